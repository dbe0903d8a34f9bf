/*
 * Calls of a thread for tests of hooks/stack.h: they are entered and left as a test says, and the chain
 * that was noted is read back from the thread's blocks.
 *
 *      HIGH            -+- the stack's upper end
 *      calls[0].slot    |  the outermost call
 *      ...              |
 *      calls[call_count - 1].slot
 *      HIGH - SIZE     -+-
 */
#ifndef UMBRA_HOOKS_STACK_SAMPLE_H
#define UMBRA_HOOKS_STACK_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <x86intrin.h>

#include "hooks/thread.h"
#include "trace/stack_chain.h"

#define HIGH       0x7ffe00000000ull
#define SIZE       (64ull << 20)
#define MOST_CALLS 200000
/* Less at random, and of notes that are left: the agent has no sanitizer, whose instructions would
   be stepped through, too. */
#ifdef __SANITIZE_ADDRESS__
#define LESS 10
#else
#define LESS 1
#endif

extern struct thread thread;
extern uint32_t block_limit; /* that the trace has room for */

/* What calls have that are entered from here on. */
enum call_kind { RECORDS, FRAMES, ANY };
extern enum call_kind call_kind;

/* What is live, the outermost first. */
struct call {
    uint64_t slot;
    uint32_t node, number;
    bool is_frame;
    const struct record *record; /* its own; of a frame, the newest one then */
};
extern struct call calls[MOST_CALLS];
extern uint32_t call_count;

/* Called each time that stack.c looks for a caller; null: nothing is. */
extern void (*on_caller)(void);
extern uint32_t callers_found, step_from_caller; /* the caller after which stepping begins; 0: none */

/* For a group of tests: says the seed, which SEED in the environment sets. */
int sample_prepare(void **state);
/* For each test. */
int sample_begin(void **state);
int sample_end(void **state);

uint32_t random_below(uint32_t limit);

/* Enters a call whose caller used that many bytes. */
void push(uint32_t bytes, uint32_t node);
void pop(uint32_t count);

/* Has the innermost call noted. */
void note_innermost(void);
/* Has the innermost call noted, and returns whether the stack is deeper than it had been. */
bool note(void);

/* The chain is to be freed. */
void read_chain(struct stack_chain *chain);
uint32_t current_copy(void); /* the one that has the chain */

bool is_call(const struct trace_stack_entry *found, const struct call *call);
/* Are the first ones of count calls those of the chain? */
bool begins_with(const struct stack_chain *chain, const struct call *with, uint32_t count);
/* The chain is that of the live calls. */
void assert_noted(void);

#define TRAP_FLAG 0x100ull

/* Whether there is a signal after each instruction from here on. Returns whether there was. */
static inline bool set_stepping(bool is_stepping)
{
    unsigned long long flags = __readeflags();

    __writeeflags(is_stepping ? flags | TRAP_FLAG : flags & ~TRAP_FLAG);
    return flags & TRAP_FLAG;
}

#endif
