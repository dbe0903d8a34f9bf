/* What the agent asks the operating system about the process and its threads. */
#ifndef UMBRA_HOOKS_SYSTEM_H
#define UMBRA_HOOKS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint32_t system_process_id(void);

/* The calling thread's; 0 where the system does not tell, as under a filter of system calls. */
uint32_t system_thread_id(void);

/* Has this thread of the process ended? A number may be in use again. */
bool system_thread_is_gone(uint32_t tid);

/* Does exit() end all other threads before the agent hears of it? */
bool system_exit_ends_threads(void);

struct stash;

/* From here on, returns through these thunks go on to their callers and are not counted. Does
   nothing where exit() ends all other threads. */
void system_stop_exits(struct stash *stash);

void system_yield(void);

/* The name that the system has for a thread of this process; left alone if there is none. */
void system_thread_name(uint32_t tid, char *name, size_t size);

struct stack_bounds {
    uint64_t low, size; /* size 0: not known for certain */
};

/* The calling thread's own stack, if `pointer` is on it. Under the guard. */
struct stack_bounds system_own_stack(uint64_t pointer);

/* How many bytes of addresses the process may have; UINT64_MAX: there is no limit. */
uint64_t system_address_limit(void);

/* Does a debugger or tracer see what signals the process gets? */
bool system_is_traced(void);

/* Does the calling thread, whose stack pointer this is, run on its alternate signal stack? */
bool system_on_signal_stack(uint64_t pointer);

#endif
