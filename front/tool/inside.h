/*
 * `umbra inside`, which nobody types: the last step before the recorded program, in the process
 * that becomes it. call_trace_service runs it as its command:
 *
 *      umbra record            the supervisor <------------+ listener
 *        `- call_trace_service                             |
 *             `- umbra inside: mounts of its own, filter --+, becomes PROGRAM
 *
 * If there can be no mounts or no filter, instrumented files are beside their originals
 * (without_mounts.h).
 */
#ifndef UMBRA_FRONT_INSIDE_H
#define UMBRA_FRONT_INSIDE_H

#include <stdbool.h>
#include <sys/types.h>

#include "front/base/words.h"
#include "front/recording/recording.h"

struct inside {
    int socket;                        /* to the supervisor; -1: no mounts were asked for */
    int begun;                         /* a pipe: a byte when the program begins */
    mode_t mask;                       /* the program's umask; ours is 077 */
    const struct recording *recording; /* its descriptor is inherited */
    struct words options;              /* of instrument */
    struct words leave;                /* patterns: front/files/leave.h */
    bool shows_progress;               /* on a terminal: front/base/making_line.h */
    const char *path;                  /* of the program */
};

/* The command line for it, up to the program's arguments. */
void inside_command(struct words *words, const struct inside *inside);

/* Becomes the program; the exit status if that fails. */
int inside_main(int count, char **arguments);

#endif
