/*
 * How programs find the service of `start -- COMMAND` whose parent gave them an environment without
 * UMBRA_INSTANCE_ID: by a link that is named after the service's pid, trace/protocol.h. Linux
 * alone.
 */
#ifndef UMBRA_SERVICE_COMMAND_LINK_H
#define UMBRA_SERVICE_COMMAND_LINK_H

/* Makes the link to socket_path. Where it cannot, one message says what that means. */
void command_link_make(const char *socket_path);

/* Removes the links of services that were killed. */
void command_link_clean(void);

/* There may be none. */
void command_link_remove(void);

#endif
