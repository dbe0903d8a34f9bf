/*
 * The threads of a process while they stand still, each in a stop of ptrace's (PTRACE_SEIZE). What they were doing
 * goes on as if nothing had been: a system call that the stop has interrupted is begun again.
 */
#ifndef UMBRA_SERVICE_TRACEES_H
#define UMBRA_SERVICE_TRACEES_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "support/failure.h"

enum tracee_state {
    TRACEE_RUNS,
    TRACEE_STANDS,  /* where it was, with nothing to be delivered: it can make calls (tracee_call) */
    TRACEE_CLONED,  /* behind a clone, or at its own beginning */
    TRACEE_SIGNALED, /* with `signal` about to be delivered */
    TRACEE_GONE,
};

struct tracee {
    pid_t tid;
    enum tracee_state state;
    int signal;
};

struct tracees {
    pid_t pid;
    struct tracee *items;
    size_t count, room;
    uint64_t syscall_at; /* address of a `syscall` instruction there */
    int64_t begun_us; /* when the first was told to stop */
    double stood_ms;  /* until the last ran on: once they are released */
    bool hurries; /* this thread was put in front of all others; what it was: */
    int policy;
    struct sched_param priority;
};

/*
 * Stops all of the process's threads, and no others. On failure all run on: one does not come to a stop, as does who
 * waits for its vfork child; or the rights are missing, somebody else traces it, it is gone.
 */
bool tracees_stop(struct tracees *tracees, pid_t pid, struct failure *failure);

/* Stops one that can make calls. */
bool tracees_stop_one(struct tracees *tracees, pid_t pid, struct failure *failure);

/* They run on, and nobody traces them any more. */
void tracees_release(struct tracees *tracees);

/* The first that can make calls; null: there is none. */
struct tracee *tracees_caller(struct tracees *tracees);

/* Null: it is none of them. */
struct tracee *tracees_find(struct tracees *tracees, pid_t tid);

/* False: it is gone. */
bool tracee_registers(const struct tracee *tracee, struct user_regs_struct *registers);
bool tracee_set_registers(const struct tracee *tracee, const struct user_regs_struct *registers);
void tracee_set_gs(const struct tracee *tracee, uint64_t base);

/* A call that would be resumed for the rest of its time begins anew, with all of it. */
void tracee_begin_call_anew(const struct tracee *tracee);

/*
 * Makes a system call there. Returns what the kernel does, -1 … -4095 for errors; the thread's registers and what it
 * was doing are as before. While it is in it, no signal is delivered.
 */
long tracee_call(const struct tracees *tracees, struct tracee *tracee, long number, const uint64_t arguments[6]);

/* What is behind a name in the status of a thread, which may run: "State:\t", say. False: there is none. */
#define THREAD_STATUS_VALUE 32
bool thread_status(pid_t pid, pid_t tid, const char *name, char value[THREAD_STATUS_VALUE]);

#endif
