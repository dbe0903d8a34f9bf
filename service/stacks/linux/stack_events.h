/*
 * What the kernel tells of a command and all that it starts, threads and processes: when each began,
 * executed a program, mapped code and ended, and, each period of its processor time, its registers and
 * its stack. perf_event_open(2), without any part of theirs in it.
 *
 *      processor 0     dummy event ──> ring 0     told of at once
 *                      cpu clock   ──> ring 1     told of when it is a quarter full
 *      processor 1 …                              and so on
 *
 * The events are opened for the calling process, disabled until an exec, and inherited: what it starts
 * from then on is watched as of its exec.
 */
#ifndef UMBRA_SERVICE_STACK_EVENTS_H
#define UMBRA_SERVICE_STACK_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/base/event_loop.h"
#include "support/failure.h"
#include "trace/stacks_format.h"

enum stack_event_kind {
    STACK_EVENT_BEGIN, /* a thread, of this process or as a new one: parent */
    STACK_EVENT_EXEC,
    STACK_EVENT_NAME, /* of a thread */
    STACK_EVENT_MAP,
    STACK_EVENT_SAMPLE,
    STACK_EVENT_TIME, /* what processor time a thread that ends had */
    STACK_EVENT_END,  /* of a thread */
    STACK_EVENT_LOST, /* nobody knows whose they were */
};

/* Valid during the call alone. */
struct stack_event {
    enum stack_event_kind kind;
    uint32_t pid, tid;
    uint32_t parent, parent_tid; /* of a thread that begins: who made it */
    uint64_t time; /* ns, of system_clock_steady_ns */
    const char *name;    /* of a thread, or a file */
    const char *command; /* of exec: arguments joined by spaces; null: it was over too soon */
    uint64_t address, length, offset;
    uint8_t build_id[20];
    uint32_t build_id_size;
    uint64_t amount; /* ns, or samples lost */
    bool is_in_kernel;
    const uint64_t *registers; /* STACKS_REGISTERS of them */
    const unsigned char *stack;
    size_t stack_size;
};

/* The arguments of a process, joined by spaces, to be freed. Null if it has ended, or has not come that far. */
char *stack_events_command(uint32_t pid);

struct stack_events;

struct stack_events_receiver {
    void (*happened)(void *owner, const struct stack_event *event);
    void *owner;
};

/* Hands over events in the turns of the loop, in the order of time. Null, with failure filled in. */
struct stack_events *stack_events_open(struct event_loop *loop, uint32_t period_ns,
                                       const struct stack_events_receiver *receiver,
                                       struct failure *failure);

/* Has the events of a thread that runs already, and of those that it begins, told of, too. Returns false, errno
   set: ESRCH, it is gone. */
bool stack_events_add_thread(struct stack_events *events, pid_t tid);

/* Whether time in the kernel is not sampled, as this user may not. */
bool stack_events_are_of_user(const struct stack_events *events);

/* Hands over all that is left. */
void stack_events_finish(struct stack_events *events);

void stack_events_close(struct stack_events *events);

#endif
