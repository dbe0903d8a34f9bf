/* The slow paths of the hooks; entry.S calls them with all registers saved, and the same way on
   every platform. */
#ifndef UMBRA_HOOKS_SLOW_PATHS_H
#define UMBRA_HOOKS_SLOW_PATHS_H

#include "hooks/thread.h"

/* The platform's own convention: of another one compilers for Windows give no unwind information. */
#define FROM_ASSEMBLY __attribute__((used))

#define DESTINATION_IN_CALL 2
#define DESTINATION_BEHIND  4

/* Where an entry goes on. */
struct destination {
    uint64_t address;
    uint64_t is_thunk; /* 1; else: the body, with the stack pointer at the slot. Out of a copy:
                          DESTINATION_IN_CALL, if the call was made; or DESTINATION_BEHIND, if it
                          is a jump, and the thunk is to make the call: the stack pointer is 8 above
                          the slot */
};

/* slot: the stack pointer at the function's entry; body: as in image_manifest.h. */
FROM_ASSEMBLY struct destination umbra_slow_entry(uintptr_t *slot, uint64_t body);

/* The call that had this record has returned; *slot holds the true return address again. */
FROM_ASSEMBLY void umbra_slow_exit(struct record *record, uintptr_t *slot);

/* A record of the own stack's, for a call with this slot; null if there is none. */
struct record *slow_path_push(struct thread *thread, uint64_t slot);

/* The context of the innermost call on another stack than the thread's own, or on one without order;
   the root, if none is known. */
struct trace_node *slow_path_context_elsewhere(struct thread *thread, uint64_t stack_pointer);

/* The record of the call whose return address is, or was, at `own`; null if none is known. slot: the stack pointer,
   or below it. */
struct record *slow_path_record_of(struct thread *thread, uintptr_t *slot, uint64_t own);

bool slow_path_on_own_stack(const struct thread *thread, const uintptr_t *slot);

/* The state to work with, suspended; null if this hook has to pass through. frame: rbp of the slow
   path; is_call: what passes is a call that is recorded nowhere else. */
struct thread *slow_path_enter(uintptr_t *slot, const uintptr_t *frame, uint64_t ticks, bool is_call);

/* Returns the hook that calls into the body's image go through from now on. */
FROM_ASSEMBLY void *umbra_first_call(uint64_t body);

#endif
