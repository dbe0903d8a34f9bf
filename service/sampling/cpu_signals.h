/*
 * Has the kernel send SIGURG to each thread of another process, to the thread itself, each time it
 * has used up a period of its processor time: for processes that take their samples themselves
 * (hooks/sampler.h). The kernel looks with perf_event_open(2), and sends the signal only out of
 * user mode, so that it interrupts no system call. The descriptors are the service's; the process
 * holds nothing. Nothing is sent to what the process forks or executes.
 *
 * Threads get it that are willing, and do not block it.
 */
#ifndef UMBRA_SERVICE_CPU_SIGNALS_H
#define UMBRA_SERVICE_CPU_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cpu_signals;

/* watch: process_is_gone's. willing: as in the trace's header, where the process changes it. Both
   are borrowed. Returns null, errno set, where the kernel does not allow it. */
struct cpu_signals *cpu_signals_begin(pid_t pid, int watch, const uint64_t *willing,
                                      uint32_t period_ns);

/* The threads that the process has by now get them. Returns false if one
   does not that may later. */
bool cpu_signals_follow(struct cpu_signals *signals);

/* When it returns, no more are sent; some may not have been handled yet. Null: does nothing. */
void cpu_signals_end(struct cpu_signals *signals);

#endif
