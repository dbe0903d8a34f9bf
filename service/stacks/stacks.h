/*
 * Recording without instrumenting: a command, and all that it starts, is sampled with whole stacks. It is a
 * recording by itself: there is no instance, nothing connects, nobody can ask for its state.
 */
#ifndef UMBRA_SERVICE_STACKS_H
#define UMBRA_SERVICE_STACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct stacks_settings {
    char **command; /* zero-terminated; null: pid */
    pid_t pid;      /* of a process that runs already, of this machine: until it ends, or a signal comes */
    const char *trace_dir;
    uint32_t samples; /* in a second of a thread's processor time */
    bool is_verbose;  /* a line for each process that has ended */
};

/* Returns when the command and what it started have ended: its exit status, or 1 after a message. Signals
   are handed on to the command. */
int stacks_record(const struct stacks_settings *settings);

#endif
