#include "service/attach/linux/tracees.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "service/attach/linux/address_space.h"

#define OPTIONS       (PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD)
#define SYSCALL_STOP  (SIGTRAP | 0x80)
#define RESUME        (-516) /* ERESTART_RESTARTBLOCK: go on with it, by restart_syscall */
#define RESTART       (-514) /* ERESTARTNOHAND: begin it again, unless a handler runs first */
#define STOP_MS       400
#define MOST_PASSES   50  /* over the threads, until there is no new one */
#define MOST_SETTLES  200 /* signals that come one after the other */
#define VDSO_SIZE     (1 << 16)
#define CALL_PATIENCE 1000 /* stops until a call that was begun is over */

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000ll + now.tv_nsec / 1000;
}

struct tracee *tracees_find(struct tracees *tracees, pid_t tid)
{
    for (size_t i = 0; i < tracees->count; i++)
        if (tracees->items[i].tid == tid)
            return &tracees->items[i];
    return NULL;
}

static bool add(struct tracees *tracees, pid_t tid)
{
    if (tracees->count == tracees->room) {
        size_t room = tracees->room ? 2 * tracees->room : 64;
        struct tracee *grown = realloc(tracees->items, room * sizeof(*grown));

        if (!grown)
            return false;
        tracees->items = grown;
        tracees->room = room;
    }
    tracees->items[tracees->count++] = (struct tracee){.tid = tid};
    return true;
}

/* A number of /proc/PID/task, or a thread that a clone has just made. */
static bool is_thread_of(pid_t pid, pid_t tid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
    return access(path, F_OK) == 0;
}

/* A clone has made another process: it is none of ours. */
static void let_go_of_process(pid_t pid)
{
    int status;

    if (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
        ptrace(PTRACE_DETACH, pid, 0, 0);
}

/* Traced from its first instruction on; its first stop is yet to come. */
static void take_cloned(struct tracees *tracees, const struct tracee *maker)
{
    unsigned long made = 0;

    if (ptrace(PTRACE_GETEVENTMSG, maker->tid, 0, &made) || tracees_find(tracees, (pid_t)made))
        return;
    if (is_thread_of(tracees->pid, (pid_t)made))
        add(tracees, (pid_t)made);
    else
        let_go_of_process((pid_t)made);
}

static void note(struct tracee *tracee, int status)
{
    int event = status >> 16;

    tracee->signal = 0;
    if (!WIFSTOPPED(status)) {
        tracee->state = TRACEE_GONE;
    } else if (event == PTRACE_EVENT_STOP) {
        tracee->state = TRACEE_STANDS;
    } else if (event) {
        tracee->state = TRACEE_CLONED;
    } else {
        tracee->state = TRACEE_SIGNALED;
        tracee->signal = WSTOPSIG(status);
    }
}

/* What has happened to it since; nothing, if it still runs. */
static void look_at(struct tracees *tracees, size_t place)
{
    struct tracee *tracee = &tracees->items[place];
    int status;
    pid_t waited = waitpid(tracee->tid, &status, __WALL | WNOHANG);

    if (waited < 0 && errno == ECHILD)
        tracee->state = TRACEE_GONE;
    if (waited != tracee->tid)
        return;
    note(tracee, status);
    if (tracee->state == TRACEE_CLONED && status >> 16 == PTRACE_EVENT_CLONE)
        take_cloned(tracees, &(struct tracee){.tid = tracee->tid});
}

/* The number of one that still runs at the deadline; 0: all stand. */
static pid_t wait_for_all(struct tracees *tracees, int64_t deadline)
{
    for (;;) {
        pid_t runs = 0;

        for (size_t i = 0; i < tracees->count; i++) {
            if (tracees->items[i].state == TRACEE_RUNS)
                look_at(tracees, i);
            if (tracees->items[i].state == TRACEE_RUNS)
                runs = tracees->items[i].tid;
        }
        if (!runs || now_us() > deadline)
            return runs;
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
}

bool thread_status(pid_t pid, pid_t tid, const char *name, char value[THREAD_STATUS_VALUE])
{
    char path[64], line[256];
    size_t length = strlen(name);
    bool is_found = false;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
    file = fopen(path, "re");
    if (!file)
        return false;
    while (!is_found && fgets(line, sizeof(line), file)) {
        is_found = !strncmp(line, name, length);
        if (is_found)
            snprintf(value, THREAD_STATUS_VALUE, "%.*s", THREAD_STATUS_VALUE - 1, line + length);
    }
    fclose(file);
    return is_found;
}

static bool is_ending(pid_t pid, pid_t tid)
{
    char state[THREAD_STATUS_VALUE];

    return !thread_status(pid, tid, "State:\t", state) || *state == 'Z' || *state == 'X';
}

/* Made by one that is traced, just now: then so is it, and comes to a stop by itself. */
static bool is_traced_by_us(pid_t pid, pid_t tid)
{
    char tracer[THREAD_STATUS_VALUE];

    return thread_status(pid, tid, "TracerPid:\t", tracer) && atoi(tracer) == getpid();
}

/* 1: it is being stopped; 0: it is gone; -1: it cannot be. */
static int begin_stop(struct tracees *tracees, pid_t tid)
{
    if (ptrace(PTRACE_SEIZE, tid, 0, OPTIONS)) {
        int error = errno;

        if (error == EPERM && is_traced_by_us(tracees->pid, tid))
            return add(tracees, tid) ? 1 : -1;
        if (error == ESRCH || is_ending(tracees->pid, tid))
            return 0;
        errno = error;
        return -1;
    }
    if (!add(tracees, tid)) {
        ptrace(PTRACE_DETACH, tid, 0, 0);
        return -1;
    }
    ptrace(PTRACE_INTERRUPT, tid, 0, 0);
    return 1;
}

/* Returns how many are new; -1, errno set. */
static int begin_stops(struct tracees *tracees, bool only_first)
{
    char path[64];
    struct dirent *entry;
    DIR *directory;
    int begun = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)tracees->pid);
    directory = opendir(path);
    if (!directory)
        return -1;
    while (begun >= 0 && !(only_first && begun) && (entry = readdir(directory))) {
        pid_t tid = atoi(entry->d_name);
        int one;

        if (tid <= 0 || tracees_find(tracees, tid))
            continue;
        one = begin_stop(tracees, tid);
        begun = one < 0 ? -1 : begun + one;
    }
    closedir(directory);
    return begun;
}

/*
 * One that is about to get a signal gets it, and is stopped again at once: at the handler's
 * beginning. The signal may be its end.
 */
static bool settle(struct tracees *tracees, size_t place, int64_t deadline)
{
    for (int i = 0; tracees->items[place].state == TRACEE_SIGNALED; i++) {
        struct tracee *tracee = &tracees->items[place];

        if (i == MOST_SETTLES)
            return false;
        ptrace(PTRACE_INTERRUPT, tracee->tid, 0, 0);
        tracee->state = TRACEE_RUNS;
        if (ptrace(PTRACE_CONT, tracee->tid, 0, (long)tracee->signal))
            tracee->state = TRACEE_GONE;
        while (tracees->items[place].state == TRACEE_RUNS && now_us() < deadline)
            look_at(tracees, place);
    }
    return tracees->items[place].state != TRACEE_RUNS;
}

/* The call that the stop has interrupted, and which ends so, is begun again. */
static void begin_call_after(const struct tracee *tracee, int64_t result)
{
    struct user_regs_struct registers;

    if (!tracee_registers(tracee, &registers) || (int64_t)registers.orig_rax < 0 ||
        (int64_t)registers.rax != result)
        return;
    registers.rax = (unsigned long long)RESTART;
    tracee_set_registers(tracee, &registers);
}

/* Some calls end with EINTR at each stop, though no signal came. */
static void begin_call_again(const struct tracee *tracee)
{
    if (tracee->state == TRACEE_STANDS)
        begin_call_after(tracee, -EINTR);
}

void tracee_begin_call_anew(const struct tracee *tracee)
{
    begin_call_after(tracee, RESUME);
}

static bool find_syscall(struct tracees *tracees, struct failure *failure)
{
    struct address_space space;
    unsigned char *bytes;

    if (!address_space_read(&space, tracees->pid, failure))
        return false;
    bytes = malloc(VDSO_SIZE);
    for (size_t i = 0; bytes && i < space.count && !tracees->syscall_at; i++) {
        const struct address_range *range = &space.ranges[i];
        size_t size = range->end - range->start;

        if (strcmp(range->path, "[vdso]") || size > VDSO_SIZE)
            continue;
        if (process_vm_readv(tracees->pid, &(struct iovec){bytes, size}, 1,
                             &(struct iovec){(void *)range->start, size}, 1, 0) != (ssize_t)size)
            continue;
        for (size_t at = 0; at + 1 < size && !tracees->syscall_at; at++)
            if (bytes[at] == 0x0f && bytes[at + 1] == 0x05)
                tracees->syscall_at = range->start + at;
    }
    free(bytes);
    address_space_free(&space);
    return tracees->syscall_at ||
           fail_because(failure, "expected a system call in its vdso, found none");
}

/* Threads that spin would have us wait for our turn at each step: where we may, we come first. */
static void hurry(struct tracees *tracees)
{
    const struct sched_param first = {.sched_priority = 1};

    tracees->policy = sched_getscheduler(0);
    tracees->hurries = tracees->policy >= 0 && !sched_getparam(0, &tracees->priority) &&
                       !sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
}

static void hurry_no_more(struct tracees *tracees)
{
    if (tracees->hurries)
        sched_setscheduler(0, tracees->policy, &tracees->priority);
    tracees->hurries = false;
}

static bool refuse_stop(struct tracees *tracees, int error, struct failure *failure)
{
    tracees_release(tracees);
    if (error == EPERM)
        return fail_because(failure, "cannot be traced: %s",
                            "who is not root needs a process of the same user, and "
                            "kernel.yama.ptrace_scope=0 (sysctl)");
    return fail_because(failure, "cannot be traced: %s", strerror(error));
}

static bool stop(struct tracees *tracees, bool only_one, struct failure *failure)
{
    int64_t deadline = now_us() + STOP_MS * 1000;
    int begun = 1;

    tracees->begun_us = now_us();
    for (int pass = 0; begun > 0; pass++) {
        pid_t runs;

        begun = begin_stops(tracees, only_one);
        if (begun < 0)
            return refuse_stop(tracees, errno, failure);
        runs = wait_for_all(tracees, deadline);
        if (runs || pass == MOST_PASSES) {
            tracees_release(tracees);
            return fail_because(failure, "thread %d does not come to a stop", (int)runs);
        }
        if (only_one)
            break;
    }
    for (size_t i = 0; i < tracees->count; i++)
        if (!settle(tracees, i, deadline + STOP_MS * 1000)) {
            tracees_release(tracees);
            return fail_because(failure, "a thread gets one signal after the other");
        }
    for (size_t i = 0; i < tracees->count; i++)
        begin_call_again(&tracees->items[i]);
    return true;
}

static bool begin(struct tracees *tracees, pid_t pid, bool only_one, struct failure *failure)
{
    *tracees = (struct tracees){.pid = pid};
    hurry(tracees);
    if (find_syscall(tracees, failure))
        return stop(tracees, only_one, failure);
    hurry_no_more(tracees);
    return false;
}

bool tracees_stop(struct tracees *tracees, pid_t pid, struct failure *failure)
{
    return begin(tracees, pid, false, failure);
}

bool tracees_stop_one(struct tracees *tracees, pid_t pid, struct failure *failure)
{
    if (!begin(tracees, pid, true, failure))
        return false;
    if (tracees_caller(tracees))
        return true;
    tracees_release(tracees);
    return fail_because(failure, "its first thread can make no calls just now");
}

/* One that runs has to stop first; one that ends may never. */
static void let_go(struct tracees *tracees, size_t place, int64_t deadline)
{
    while (tracees->items[place].state == TRACEE_RUNS && now_us() < deadline) {
        look_at(tracees, place);
        if (tracees->items[place].state == TRACEE_RUNS)
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    if (tracees->items[place].state != TRACEE_GONE)
        ptrace(PTRACE_DETACH, tracees->items[place].tid, 0, (long)tracees->items[place].signal);
}

void tracees_release(struct tracees *tracees)
{
    int64_t deadline = now_us() + STOP_MS * 1000;

    for (size_t i = 0; i < tracees->count; i++)
        let_go(tracees, i, deadline);
    tracees->stood_ms = (double)(now_us() - tracees->begun_us) / 1e3;
    hurry_no_more(tracees);
    free(tracees->items);
    tracees->items = NULL;
    tracees->count = tracees->room = 0;
}

struct tracee *tracees_caller(struct tracees *tracees)
{
    for (size_t i = 0; i < tracees->count; i++)
        if (tracees->items[i].state == TRACEE_STANDS)
            return &tracees->items[i];
    return NULL;
}

bool tracee_registers(const struct tracee *tracee, struct user_regs_struct *registers)
{
    return tracee->state != TRACEE_GONE && ptrace(PTRACE_GETREGS, tracee->tid, 0, registers) == 0;
}

bool tracee_set_registers(const struct tracee *tracee, const struct user_regs_struct *registers)
{
    return ptrace(PTRACE_SETREGS, tracee->tid, 0, registers) == 0;
}

void tracee_set_gs(const struct tracee *tracee, uint64_t base)
{
    struct user_regs_struct registers;

    if (!tracee_registers(tracee, &registers))
        return;
    registers.gs_base = base;
    tracee_set_registers(tracee, &registers);
}

/* The next stop's status; 0: it is gone. */
static int go_to_stop(struct tracee *tracee, int how)
{
    int status;

    if (ptrace(how, tracee->tid, 0, 0) || waitpid(tracee->tid, &status, __WALL) != tracee->tid ||
        !WIFSTOPPED(status)) {
        tracee->state = TRACEE_GONE;
        return 0;
    }
    return status;
}

/* On to the next system call's begin or end. */
static bool go_to_call(struct tracee *tracee)
{
    for (int i = 0; i < CALL_PATIENCE; i++) {
        int status = go_to_stop(tracee, PTRACE_SYSCALL);

        if (!status)
            return false;
        if (status >> 16 == 0 && WSTOPSIG(status) == SYSCALL_STOP)
            return true;
    }
    return false;
}

/* To where it has left the system call, before its registers are what they were: else the kernel
   would take the error numbers of its own for the program's. */
static bool leave_call(struct tracee *tracee)
{
    int status = 0;

    for (int i = 0; i < CALL_PATIENCE && status >> 16 != PTRACE_EVENT_STOP; i++) {
        ptrace(PTRACE_INTERRUPT, tracee->tid, 0, 0);
        status = go_to_stop(tracee, PTRACE_CONT);
        if (!status)
            return false;
    }
    return status >> 16 == PTRACE_EVENT_STOP;
}

/* What a call takes away and gives back. */
struct interrupted {
    struct user_regs_struct registers;
    uint64_t mask;
};

static bool interrupt(const struct tracee *tracee, struct interrupted *was)
{
    uint64_t all = ~0ull;

    return tracee_registers(tracee, &was->registers) &&
           !ptrace(PTRACE_GETSIGMASK, tracee->tid, sizeof(was->mask), &was->mask) &&
           !ptrace(PTRACE_SETSIGMASK, tracee->tid, sizeof(all), &all);
}

static void go_on(struct tracee *tracee, const struct interrupted *was)
{
    if (leave_call(tracee))
        tracee_set_registers(tracee, &was->registers);
    ptrace(PTRACE_SETSIGMASK, tracee->tid, sizeof(was->mask), &was->mask);
}

long tracee_call(const struct tracees *tracees, struct tracee *tracee, long number,
                 const uint64_t arguments[6])
{
    struct interrupted was;
    struct user_regs_struct registers;
    long result = -EIO;

    if (!interrupt(tracee, &was))
        return -ESRCH;
    registers = was.registers;
    registers.rip = tracees->syscall_at;
    registers.rax = (unsigned long long)number;
    registers.orig_rax = (unsigned long long)-1;
    registers.rdi = arguments[0];
    registers.rsi = arguments[1];
    registers.rdx = arguments[2];
    registers.r10 = arguments[3];
    registers.r8 = arguments[4];
    registers.r9 = arguments[5];
    if (tracee_set_registers(tracee, &registers) && go_to_call(tracee) && go_to_call(tracee) &&
        tracee_registers(tracee, &registers))
        result = (long)registers.rax;
    go_on(tracee, &was);
    return result;
}
