/* The command that `start -- COMMAND` runs under the service. */
#ifndef UMBRA_SERVICE_COMMAND_H
#define UMBRA_SERVICE_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "service/launch/signals.h"

/*
 * Starts it, found through PATH, with UMBRA_INSTANCE_ID set and, if rendezvous is not null,
 * UMBRA_RENDEZVOUS (instance null: neither is set, nor taken away), in the same process group and with the signals as they were before
 * signals_open. Where it is a program of another system, it is run by what runs those: `wine`.
 * Returns its pid; or 0 after one message, with the status a shell would return in *exit_status:
 * 127 not found, 126 not to be run.
 */
pid_t command_start(char **arguments, const char *instance, const char *rendezvous,
                    const struct signals *signals, int *exit_status);

/* Whether that file is a program for Windows. */
bool command_is_for_windows(char **arguments);

/* Until command_has_ended, the pid cannot be another's. */
void command_signal(pid_t pid, int number);

/* Collects it if it has ended. *exit_status is its own, or 128 + N if signal N killed it. */
bool command_has_ended(pid_t pid, int *exit_status);

#endif
