/*
 * A thread's state: what the hooks find through one TLS slot.
 *
 * The page that holds it is wiped in a child made by fork, so that the first hook in the child
 * finds no stack bounds, no top and no `begun`, takes the slow path and starts afresh, with a
 * trace of its own. The hot path pays nothing for that.
 *
 * Slow paths. While one runs, `busy` is set and the hot fields stack_size and top are 0, so a hook
 * in a signal handler that interrupts it comes to a slow path too, sees `busy` and passes through.
 * If such a handler leaves by longjmp, `busy` stays behind. A hook at `busy_slot` knows that the
 * slow path is no more, and so does one above it once the slow path's frame holds something else.
 * The frame must be looked at, as a handler's own stack may lie above, in an array of a function.
 * When a slow path is over, the hot fields are as they were, whichever stack it ran on: a handler
 * may have interrupted the hot path itself.
 *
 * A thread's time stands still in its slow paths: `now` is the time at which one began, and what it
 * took is added to `stopped`, which both hooks subtract from the processor's counter. Making a new
 * context, unwinding a hundred records or growing a table does not show in anyone's figures.
 */
#ifndef UMBRA_HOOKS_THREAD_H
#define UMBRA_HOOKS_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hooks/layout.h"
#include "hooks/thread_slot.h"
#include "hooks/ticks.h"
#include "hooks/trace_list.h"
#include "thunkstash/stash.h"
#include "trace/stack_format.h"
#include "trace/trace_format.h"

/* An entry of the table of a thread's contexts: 8 bytes, read and written in one go, 0 if it is
   free. The hash tells two contexts apart, and says where they belong in a larger table, without a
   look at them. */
struct table_entry {
    uint32_t node; /* index */
    uint32_t hash; /* tree_hash */
};

/* Where a thread writes its events (events.h). All zero: no segment. */
struct event_place {
    uint64_t next; /* address of the next word; at or past `end`: there is no room */
    uint64_t end;
    uint64_t base; /* the thread's time at the segment's base */

    struct event_segment *segment;
    uint64_t dropped;    /* events lost since the last segment was taken */
    uint64_t busy;       /* frame of a refill under way, 0 for none */
    uint32_t refused;    /* refills since then that were refused */
    uint32_t generation; /* of refills: one that was interrupted for long sees that it was */
    uint32_t wait;       /* events until segments are looked for again */
};

/* How deep a thread's stack has been (stack.h). */
struct stack_copy {
    uint32_t block_count;
    uint32_t blocks[STACK_MOST_BLOCKS]; /* index of each one's unit 0 */
};

struct stack_peak {
    uint64_t lowest; /* stack pointer; the end of the stack if nothing was noted */
    struct stack_copy copies[STACK_COPIES];
};

struct frame_words;

#define TIMES_CARRIED 16

struct timed_call {
    const struct trace_node *context;
    uint64_t begun; /* ticks */
};

#define SAMPLES_RECENT 8

struct thread {
    /* Hot. */
    uint64_t stack_low;  /* of the own stack, the part that was in use already: deeper calls */
    uint64_t stack_size; /* take the slow path, which notes them; 0: every entry does */
    struct record *top;  /* of `own`; null: every exit takes the slow path */
    struct table_entry *table; /* contexts by hash, open addressing */
    uint64_t table_mask;       /* 8 * (entries - 1), entries a power of 2 */
    char *trace;               /* start of the mapped trace: node = trace + 64 * index */
    uint64_t stopped;          /* ticks spent in slow paths: a thread's time is rdtsc less these */
    struct event_place events;

    /* Contexts found recently: node indexes, in the nearest cache even if the table is
       not. An entry may be any context's or 0; whoever reads it looks at the node. */
    _Alignas(64) uint32_t hints[HINTS_SIZE / sizeof(uint32_t)];

    uint32_t begun; /* session in which the state was set up; 0: wiped, or never set up */
    uint32_t busy;
    uint64_t busy_slot;
    uint64_t busy_frame; /* address of the slow path's return address; 0: not known */
    uint64_t busy_return;
    uint64_t now;               /* the thread's time while a slow path runs */
    uint64_t frame;             /* rbp at the entry that a slow path is about */
    uint64_t own_low, own_size; /* the thread's own stack; size 0 if it is not known */
    struct stash own;           /* calls on that stack */
    struct stash other;         /* calls on all others */
    bool other_begun;
    struct stack_peak peak; /* of the own stack */

    struct frame_words *frames; /* frames.h */
    char *frame_pages;          /* the shadow of contexts beside frames; null: nothing is reserved */
    uint64_t frame_low;         /* what it begins with: an address of the stack */
    uint64_t frame_covered;     /* the lowest one whose word can be used */
    char *links_next;           /* where links are taken from: up to the end of its block. Or null */
    char *links_rest;           /* up to the end of an earlier block: for records that fit there */
    struct trace_links *adopted; /* the newest of links_of_adopted; `entered` leads on */

    /* A parked invocation that goes on is counted as unwound no more: what its slow path does last,
       and the next one again if that one was left (invocation.c). */
    struct {
        struct record *record; /* null: nothing is left to be done */
        uint64_t unwound;
    } revival;
    uint64_t readable; /* page of the own stack that could be read in this slow path; 0: none yet */

    struct trace_thread *entry; /* in the trace */
    struct trace_block *block;  /* where nodes are taken from */
    struct trace_node *root;
    uint32_t table_used;
    uint32_t table_waits; /* contexts until the table tries again to grow */
    uint64_t table_room; /* entries that the table can grow to, where it is */
    uint32_t node_limit; /* contexts it may have before they fold */
    uint32_t tid;
    int sampler; /* sampler.h: the timer's number + 1; 0: there is none */
    struct {     /* sampler.h: in ns of the thread's processor time */
        uint64_t seen; /* what is accounted for; 0: the clock cannot be read */
        uint64_t owed; /* of that, what was spent in the kernel, and is nobody's yet */
        uint64_t of_faults; /* of that, what page faults took, by their number; maybe more */
        uint64_t faults;    /* of pages, so far */
        uint32_t has_perf;
        uint32_t lone_ticks; /* of the timer, since perf's last signal */
        uint32_t is_held;    /* the timer stands (hooks/linux/sampler_hold.h) */
        uint64_t left;       /* while it does: of its period */
        struct trace_node *recent[SAMPLES_RECENT]; /* contexts of the last samples; null: the agent */
        uint32_t taken; /* samples, modulo 2^32: number n is recent[n % SAMPLES_RECENT] */
    } samples;
    struct {             /* hits.h */
        struct trace_list records;
        uint32_t left_out; /* samples since the last one kept */
        uint64_t owed;     /* their time, in ns */
    } hits;
    struct {                         /* further_targets.h */
        struct further_table *table; /* null: there is none yet */
        uint32_t count;
    } further;
    struct {                 /* waits.h */
        uint64_t seen;           /* ticks, when the thread was looked at last; 0: it was not */
        uint64_t seen_processor; /* and what it had of the processor, in ns */
        struct trace_wait **table; /* by node, open addressing; null: there are none yet */
        uint32_t room;
        struct trace_list records;
    } waits;
    struct trace_list sites; /* struct trace_site */
    struct {                 /* times.h */
        struct trace_times **table; /* by node and function, open addressing; null: there are none yet */
        struct trace_list records;
        uint64_t clock; /* ticks, as the slow path that ends a call began */
        struct {
            const struct record *record;
            struct timed_call call; /* of the function that its own has jumped out of */
        } carried[TIMES_CARRIED];
        uint32_t carried_count; /* so far, modulo 2^32: number n is carried[n % TIMES_CARRIED] */
    } times;
    uint32_t sampler_waits; /* how many slow paths it took while it could not have the signal; 0: it
                               does not wait for it */
    struct thread *next; /* all threads of the process, the ended ones too until they are reused */
};

/* Sets up the calling thread, in a fresh session too. Null: it cannot be recorded. */
struct thread *thread_begin(void);

/* Stands in for a thread whose state is made just now: a signal's handler has come amid that. */
bool thread_is_in_the_making(const struct thread *thread);

/* The calling thread, in a slow path, waits for the sampler's signal (sampler.h): looks whether it can
   have it by now. At first each time, for copies take few slow paths, later ever less often. */
void thread_take_samples(struct thread *thread);

/* What the calling thread calls from here on is the agent's doing and is passed, until what this returns is
   current again (thread_set_current). */
struct thread *thread_pass_calls(void);

/* In a fork's child that has not begun a session of its own: begins one. Else nothing. */
void thread_begin_in_child(void);

/* Notes that the calling thread ends: what lies below its stack pointer ended unwound, the rest
   is live. Called at its end and at the process's. */
void thread_end(struct thread *thread, uint64_t stack_pointer, enum trace_thread_state state);

/* At exit(): stops and closes every other thread of the process. */
void threads_cut(struct thread *self);

/* Right before the session ends: what is live of those. */
void threads_recount(void);

/* Calls visit for each thread of the process, under the guard. */
void threads_each(void (*visit)(struct thread *thread));

/* Has thread_notice_end called in each thread that ends from now on, where the system allows it. */
void threads_prepare(void);

/* The calling thread ends, its frames below the stack pointer have ended. */
void thread_notice_end(struct thread *thread, uint64_t stack_pointer);

/* The calling thread, whose end was noticed, makes no further call: what it held is given back. */
void thread_leave(struct thread *thread);

/* Slow path brackets. ticks: when it began. publish puts the hot fields back in place. */
void thread_suspend(struct thread *thread, uint64_t slot, uint64_t ticks);
void thread_publish(struct thread *thread);

_Static_assert(offsetof(struct thread, hints) == 128, "what is hot beside them takes two cache lines");

#endif
