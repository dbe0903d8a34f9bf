/*
 * What a program does with signals, seen before the C library does it, so that it never meets the sampler's
 * (sampler.h):
 *
 *      installs a handler for it         gets it for itself: no more samples
 *      asks which handler there is       none
 *      blocks all signals                the thread takes no samples until it lets them through again; perf,
 *                                        which could send one more, is given up, and timers are left
 *      waits for signals, or looks       the thread takes no samples any more
 *      which are pending
 *      opens a signalfd                  no more samples
 *      sets a small alternate stack      the thread takes no samples while it has one
 *
 * System calls that are made without the C library's functions are not seen, nor are those of static
 * programs.
 */
#ifndef UMBRA_HOOKS_LINUX_SAMPLER_CALLS_H
#define UMBRA_HOOKS_LINUX_SAMPLER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Each has the arguments of the function that is called. */
HIDDEN void umbra_before_handler(void);
/* True: it was a question, and is answered. */
HIDDEN bool umbra_before_sigaction(uint64_t number, uint64_t action, uint64_t old);
HIDDEN void umbra_before_mask(uint64_t how, uint64_t set);
HIDDEN void umbra_before_wait(uint64_t set);
HIDDEN void umbra_before_pending(void);
HIDDEN void umbra_before_signalfd(uint64_t file, uint64_t set);
HIDDEN void umbra_before_stack(uint64_t stack);

#endif
