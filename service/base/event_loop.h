/* Waits for many descriptors and points in time at once. One thread. */
#ifndef UMBRA_SERVICE_EVENT_LOOP_H
#define UMBRA_SERVICE_EVENT_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* Belongs to whoever adds it; must stay where it is until it is removed. */
struct event_source {
    int fd;
    void (*ready)(void *owner); /* fd can be read, or its other end is gone */
    void *owner;
    struct event_source *prev, *next; /* utlist: the loop's, where the system keeps no list */
};

/* Belongs to whoever sets it; must stay where it is until it was called or is cleared. */
struct event_timer {
    void (*due)(void *owner); /* called once; may set it anew */
    void *owner;
    /* The loop's, all zero before it is set for the first time. */
    uint64_t due_ns; /* system_clock_steady_ns */
    bool is_set;
    unsigned turn; /* in which it was called last */
    struct event_timer *prev, *next;
};

struct event_loop {
    int fd;
    struct event_source *sources;
    struct event_timer *timers; /* that are set, the one due first in front */
    unsigned turn;
};

bool event_loop_open(struct event_loop *loop);
void event_loop_close(struct event_loop *loop);

/* Returns false, errno set, if there is no room. */
bool event_loop_add(struct event_loop *loop, struct event_source *source);
void event_loop_remove(struct event_loop *loop, struct event_source *source);

/* The timer is due in so many milliseconds, and no sooner; one that is set is set anew. */
void event_timer_set(struct event_loop *loop, struct event_timer *timer, int64_t delay_ms);

/* Does nothing if it is not set. */
void event_timer_clear(struct event_loop *loop, struct event_timer *timer);

/*
 * Waits until a source is ready or a timer is due. Calls one source that is ready, then the timers
 * that are due, each once. One source at a time, so that what is called may remove and free any
 * source or timer; the sources take turns.
 */
void event_loop_turn(struct event_loop *loop);

/* The platform's: waits up to timeout_ms (-1: for ever) for a source that is ready. Null: none. */
struct event_source *event_loop_wait(struct event_loop *loop, int timeout_ms);

/* Milliseconds of a clock that never jumps. */
int64_t event_loop_now(void);

#endif
