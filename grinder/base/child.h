/*
 * A child process for what may crash, hang or eat memory on a file that may say anything:
 *
 *      grinder                                child
 *        | -- fork ----------------------------> |  limited; says nothing on the user's terminal
 *        | <- pipe: what it finds -------------- |  work(with, pipe)
 *        | <- its exit status ------------------ |  what work returned
 *
 * It runs none of the grinder's exit handlers, even if a library calls exit(): what is buffered is the
 * grinder's. It does not outlive the grinder.
 */
#ifndef UMBRA_GRINDER_CHILD_H
#define UMBRA_GRINDER_CHILD_H

#include <stdint.h>
#include <sys/types.h>

struct child_limits {
    uint64_t seconds; /* of processor time */
    uint64_t memory;  /* bytes, on top of what it inherits */
};

/* Returns its number, and in *pipe the end to read from; -1, errno set: there is no child. */
pid_t child_start(const struct child_limits *limits, int (*work)(void *with, int pipe), void *with,
                  int *pipe);

/* Waits for its end. Returns its exit status, or -1 if it was killed. */
int child_wait(pid_t child);

#endif
