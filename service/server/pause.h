/* Whether programs record: `pause` and `resume`. */
#ifndef UMBRA_SERVICE_PAUSE_H
#define UMBRA_SERVICE_PAUSE_H

struct client;
struct protocol_command;

/* Does what the command says, and answers how many sessions it was done to. */
void pause_answer(struct client *client, const struct protocol_command *command);

#endif
