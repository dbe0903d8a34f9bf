/*
 * Whether the thread of another process that matters still lives. The process itself may stay when
 * it is killed: none of its threads can be ended while it waits for a file system that does not
 * answer.
 */
#ifndef UMBRA_FRONT_LIFELINE_H
#define UMBRA_FRONT_LIFELINE_H

struct lifeline;

/* To be made before the process is forked. Null with errno. */
struct lifeline *lifeline_new(void);

/* From now on it is this thread's life, until it ends. */
void lifeline_hold(struct lifeline *lifeline);

/* In the process that has forked the other: returns when that thread has ended, or its process
   before it was held. */
void lifeline_wait(struct lifeline *lifeline);

#endif
