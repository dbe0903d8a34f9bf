#include "service/attach/linux/attach_samples.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/attached_agent.h"

#define SIGNAL   SIGURG
#define BIT      (1ull << (SIGNAL - 1))
#define SET_SIZE 8 /* bytes of the kernel's sets of signals */

/* The kernel's own form of an action. */
struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

static FILE *open_timers(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/timers", (int)pid);
    return fopen(path, "re");
}

bool attach_samples_can_end(void)
{
    FILE *timers = open_timers(getpid());

    if (timers)
        fclose(timers);
    return timers;
}

static long call(struct tracees *tracees, long number, uint64_t a, uint64_t b, uint64_t c,
                 uint64_t d)
{
    struct tracee *caller = tracees_caller(tracees);

    return caller ? tracee_call(tracees, caller, number, (uint64_t[6]){a, b, c, d}) : -ESRCH;
}

/* Of each timer the file has its ID, and then the signal's number and value: `signal:
 * 23/0000756d627261`. */
static bool delete_timers(pid_t pid, struct tracees *tracees)
{
    FILE *timers = open_timers(pid);
    char *line = NULL;
    size_t room = 0;
    uint64_t id = 0, value;
    bool are_deleted = timers;

    while (are_deleted && getline(&line, &room, timers) > 0) {
        sscanf(line, "ID: %" SCNu64, &id);
        if (sscanf(line, "signal: %*d/%" SCNx64, &value) == 1 && value == ATTACHED_TIMER_VALUE)
            are_deleted = call(tracees, SYS_timer_delete, id, 0, 0, 0) == 0;
    }
    free(line);
    if (timers)
        fclose(timers);
    return are_deleted;
}

/* The kernel drops what is pending of a signal that is ignored from then on. A program that has
   taken the signal for itself meanwhile keeps it. */
static bool reset_handler(const struct attached *attached, struct tracees *tracees)
{
    uint64_t place = attached->letter.address;
    struct kernel_action action;

    if (call(tracees, SYS_rt_sigaction, SIGNAL, 0, place, SET_SIZE) ||
        pread(attached->memory, &action, sizeof(action), (off_t)place) != sizeof(action))
        return false;
    if (action.handler - attached->agent.base >= attached->agent.size)
        return true;
    action = (struct kernel_action){0}; /* SIG_DFL */
    return attached_put(attached, place, &action, sizeof(action)) &&
           call(tracees, SYS_rt_sigaction, SIGNAL, place, 0, SET_SIZE) == 0;
}

/* A mask of nearly all signals, but for this one, is one that the agent has opened
 * (hooks/linux/sampler_hold.h). */
static void close_mask(const struct tracee *tracee)
{
    uint64_t mask;

    if (ptrace(PTRACE_GETSIGMASK, tracee->tid, sizeof(mask), &mask) || mask & BIT ||
        64 - __builtin_popcountll(mask) > ATTACHED_MOST_OPEN)
        return;
    mask |= BIT;
    ptrace(PTRACE_SETSIGMASK, tracee->tid, sizeof(mask), &mask);
}

bool attach_samples_end(const struct attached *attached, struct tracees *tracees,
                        struct failure *failure)
{
    if (!attached->is_sampled)
        return true;
    if (!delete_timers(attached->pid, tracees) || !reset_handler(attached, tracees))
        return fail_because(failure, "its timers cannot be deleted");
    for (size_t i = 0; i < tracees->count; i++)
        close_mask(&tracees->items[i]);
    return true;
}
