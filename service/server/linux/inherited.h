/* A listening socket that whoever started the service handed to it: sd_listen_fds(3). */
#ifndef UMBRA_SERVICE_LINUX_INHERITED_H
#define UMBRA_SERVICE_LINUX_INHERITED_H

#define INHERITED_NONE  (-1)
#define INHERITED_WRONG (-2)

/*
 * Returns the listener for the socket at path, ready to be used; INHERITED_NONE if the environment
 * speaks of none for this process; INHERITED_WRONG after one message. The variables are unset: they
 * are not for what we start.
 */
int inherited_listener(const char *path, int backlog);

#endif
