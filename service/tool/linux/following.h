/*
 * attach --follow: programs that the process executes, and those that they do, are attached to as well.
 *
 *      attach PID --follow            a service for the process
 *        |
 *      follower                       looks at its descendants 10 times a second
 *        |             |
 *      attach CHILD   attach CHILD    a service for each, of its own: instance attach-CHILD, the same folder
 *
 * One that is seen for the first time is left alone until the next look: many are over by then. Children by fork alone
 * have the agent already, and are recorded by their parent's service.
 */
#ifndef UMBRA_SERVICE_FOLLOWING_H
#define UMBRA_SERVICE_FOLLOWING_H

#include <sys/types.h>

#include "service/tool/options.h"

struct following {
    pid_t follower;
    int ends; /* of a pipe: its end is the follower's */
};

/* The program with which each is followed: attaching_run. */
typedef int follow_fn(const struct options *options);

/* Before this process has opened anything that is not to be shared. False after one message. */
bool following_begin(struct following *following, const struct options *options, follow_fn *follow);

/* The process is gone: what it has left is followed until that is gone, too, and then the follower ends. */
void following_wait(const struct following *following);

/* Ends all of them, each with its trace on the disk. */
void following_end(const struct following *following);

#endif
