/* Where each thread keeps the address of its state, and how the agent learns of a thread's end. */
#ifndef UMBRA_HOOKS_THREAD_SLOT_H
#define UMBRA_HOOKS_THREAD_SLOT_H

#include <stdint.h>

struct thread;
struct frame_words;
struct frame_counts;

/* The calling thread's state; null before its first hook. */
struct thread *thread_current(void);
void thread_set_current(struct thread *thread);

/* What copies with contexts beside their frames know of the calling thread (frame_format.h); null where
   the platform has no such copies. */
struct frame_words *frame_words(void);

/* Where copies of the calling thread count instructions (frame_format.h): only in a process that has such. */
struct frame_counts *frame_counts(void);

/* The distance of frame_words from the thread pointer: the same in all threads. */
uint64_t frame_words_offset(void);

/* Once, before the first thread begins: what is to be called in a thread that ends, with its state
   and the stack pointer above which its frames may still be in use. */
void thread_ends_prepare(void (*notice)(struct thread *thread, uint64_t stack_pointer));

/* In each thread, once it has its state. */
void thread_end_watch(struct thread *thread);

/* The thread is gone, and its state is given back. */
void thread_slot_release(const struct thread *thread);

/* The same of threads that count blocks in a lane (cover.h). */
void lane_ends_prepare(void (*notice)(void));
void lane_end_watch(void);

#endif
