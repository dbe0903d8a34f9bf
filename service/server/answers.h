/* What a tool can ask, and what answers it: trace/protocol.h has the commands. */
#ifndef UMBRA_SERVICE_ANSWERS_H
#define UMBRA_SERVICE_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

struct client;
struct protocol_command;

struct answer {
    uint32_t kind;
    bool has_descriptor; /* that it hands over: not by TCP */
    bool comes_late;     /* when the service ends */
    bool is_of_change;   /* the command is a struct protocol_change: not by TCP */
    void (*say)(struct client *client, const struct protocol_command *command);
};

/* Null: there is no such command. */
const struct answer *answer_find(uint32_t kind);

/* Answers a command that answer_find knows. Ends the client, unless the answer comes late. */
void answer_give(struct client *client, const struct protocol_command *command);

#endif
