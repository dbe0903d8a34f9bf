/* Waits for many descriptors at once. One thread; a platform's folder has the implementation. */
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

struct event_loop {
    int fd;
    struct event_source *sources;
};

bool event_loop_open(struct event_loop *loop);
void event_loop_close(struct event_loop *loop);

/* Returns false, errno set, if there is no room. */
bool event_loop_add(struct event_loop *loop, struct event_source *source);
void event_loop_remove(struct event_loop *loop, struct event_source *source);

/*
 * Waits up to timeout_ms (-1: for ever) and calls one source that is ready. One at a time, so
 * that what is called may remove and free any source; the sources take turns.
 */
void event_loop_turn(struct event_loop *loop, int timeout_ms);

/* Milliseconds of a clock that never jumps. */
int64_t event_loop_now(void);

#endif
