/*
 * The processes that the command has started, and those started by these, and so on: also those
 * whose own parent is gone, which are this process's children from then on (Linux: a child
 * subreaper, prctl(2)). Windows knows of none.
 */
#ifndef UMBRA_SERVICE_FAMILY_H
#define UMBRA_SERVICE_FAMILY_H

#include <stdbool.h>
#include <sys/types.h>

/* From here on, none gets lost. To be called before the command is started. */
void family_begin(void);

/* Collects all that have ended but the command: 0, if that was collected already. */
void family_collect(pid_t command);

/* One that runs. */
struct relative {
    pid_t pid;
    bool is_daemon; /* it has left the session that we are in, setsid(2) */
    bool has_agent; /* instrumented, as its mappings show: the agent is loaded */
    bool is_attached_to; /* the agent for programs that run is there */
    char name[32];  /* of the process, as the kernel has it */
};

/*
 * Calls it with each of them. False: there may be more, since one ended while they were looked for,
 * and what it had started may have begun behind the look.
 */
bool family_each(void (*each)(void *owner, const struct relative *relative), void *owner);

/* The same of another process, which may lose children whose own parent has ended. */
bool family_each_of(pid_t ancestor, void (*each)(void *owner, const struct relative *relative),
                    void *owner);

#endif
