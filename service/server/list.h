/*
 * The sessions of a service: those that run, and the last that ended. A line has, by tabs
 *
 *      number  pid  name  began  state  bytes  trace
 *
 * began is UTC, 2026-11-21T14:03:07Z. state is one of: running, paused, ended (there is no saying
 * how), exit N, signal N, exec. In trace, its path, control characters are '?'.
 */
#ifndef UMBRA_SERVICE_LIST_H
#define UMBRA_SERVICE_LIST_H

struct client;
struct protocol_command;

/* The answer to PROTOCOL_COMMAND_LIST: sessions from the number in the command on, as many as an
 * answer holds. */
void list_answer(struct client *client, const struct protocol_command *command);

#endif
