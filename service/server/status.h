/* What the service does and needs, for `status`. */
#ifndef UMBRA_SERVICE_STATUS_H
#define UMBRA_SERVICE_STATUS_H

struct client;
struct protocol_command;

/* The answer to PROTOCOL_COMMAND_STATUS. */
void status_answer(struct client *client, const struct protocol_command *command);

#endif
