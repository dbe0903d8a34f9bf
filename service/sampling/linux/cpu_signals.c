#include "service/sampling/cpu_signals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uthash.h>

#include "service/base/process.h"
#include "trace/trace_format.h"

#define DESCRIPTORS_SHARE 4 /* of all we may have, one in so many */

struct thread_signals {
    pid_t tid;
    int fd;
    unsigned round; /* of the last look at which it was there */
    UT_hash_handle hh;
};

struct cpu_signals {
    pid_t pid;
    int watch;
    const uint64_t *willing;
    struct perf_event_attr attributes;
    struct thread_signals *threads;
    unsigned round;
};

static unsigned open_events; /* of all processes */

static bool has_room(void)
{
    struct rlimit limit = {0};

    getrlimit(RLIMIT_NOFILE, &limit);
    return open_events < limit.rlim_cur / DESCRIPTORS_SHARE;
}

/* An event that no thread has any more sends nothing: it need not be closed at once. */
static void drop(struct cpu_signals *signals, struct thread_signals *thread)
{
    HASH_DEL(signals->threads, thread);
    close(thread->fd);
    open_events--;
    free(thread);
}

/* What a thread is called where its process is, and whether it blocks the signal. */
struct thread_status {
    uint32_t tid;
    bool is_blocked;
};

static struct thread_status read_lines(FILE *file)
{
    struct thread_status status = {.is_blocked = true};
    char line[256];
    unsigned long long blocked;

    while (fgets(line, sizeof(line), file)) {
        const char *last = strrchr(line, '\t');

        if (!strncmp(line, "NSpid:", 6) && last) /* in each namespace, the innermost last */
            status.tid = (uint32_t)strtoul(last, NULL, 10);
        else if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
            status.is_blocked = blocked >> (SIGURG - 1) & 1;
    }
    return status;
}

static bool is_willing(const struct cpu_signals *signals, uint32_t tid)
{
    const uint64_t *word = &signals->willing[tid / 64 % TRACE_WILLING_WORDS];

    return __atomic_load_n(word, __ATOMIC_RELAXED) >> tid % 64 & 1;
}

/* False of one that is gone, too. */
static bool is_to_get_them(const struct cpu_signals *signals, pid_t tid)
{
    struct thread_status status;
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)signals->pid, (int)tid);
    file = fopen(path, "re");
    if (!file)
        return false;
    status = read_lines(file);
    fclose(file);
    return !status.is_blocked && is_willing(signals, status.tid);
}

static bool send_to(int fd, pid_t tid)
{
    struct f_owner_ex owner = {F_OWNER_TID, tid};

    return fcntl(fd, F_SETSIG, SIGURG) >= 0 && fcntl(fd, F_SETOWN_EX, &owner) >= 0 &&
           fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) >= 0;
}

/* Returns the event, which does not count yet; negative, errno set: there is none. */
static int open_event(const struct cpu_signals *signals, pid_t tid)
{
    int fd =
        (int)syscall(SYS_perf_event_open, &signals->attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    int error;

    if (fd >= 0 && send_to(fd, tid))
        return fd;
    error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

/* The event begins to count when it is known to be of a thread of the process. */
static bool add(struct cpu_signals *signals, pid_t tid)
{
    struct thread_signals *thread = has_room() ? calloc(1, sizeof(*thread)) : NULL;

    if (!thread)
        return false;
    thread->tid = tid;
    thread->round = signals->round;
    thread->fd = open_event(signals, tid);
    if (thread->fd < 0) {
        free(thread);
        return false;
    }
    open_events++;
    HASH_ADD_INT(signals->threads, tid, thread);
    if (!process_is_gone(signals->pid, signals->watch) && is_to_get_them(signals, tid) &&
        !ioctl(thread->fd, PERF_EVENT_IOC_ENABLE, 0))
        return true;
    drop(signals, thread);
    return false;
}

/* Returns false if it may get them later. */
static bool look_at(struct cpu_signals *signals, pid_t tid)
{
    struct thread_signals *thread;

    HASH_FIND_INT(signals->threads, &tid, thread);
    if (!thread)
        return is_to_get_them(signals, tid) && (add(signals, tid), true);
    thread->round = signals->round;
    return true;
}

static void drop_the_gone(struct cpu_signals *signals)
{
    struct thread_signals *thread, *next;

    HASH_ITER(hh, signals->threads, thread, next)
    {
        if (thread->round != signals->round)
            drop(signals, thread);
    }
}

bool cpu_signals_follow(struct cpu_signals *signals)
{
    char path[64];
    DIR *directory;
    struct dirent *entry;
    bool is_settled = true;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)signals->pid);
    directory = opendir(path);
    signals->round++;
    while (directory && (entry = readdir(directory))) {
        if (entry->d_name[0] != '.')
            is_settled &= look_at(signals, atoi(entry->d_name));
    }
    if (directory)
        closedir(directory);
    drop_the_gone(signals);
    return is_settled;
}

/* Whether the kernel allows it for this process; its descriptor is closed again. Where the first
   thread has ended, the others will show it, if there are any. */
static bool is_allowed(const struct cpu_signals *signals)
{
    int fd = open_event(signals, signals->pid);

    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == ESRCH;
}

struct cpu_signals *cpu_signals_begin(pid_t pid, int watch, const uint64_t *willing,
                                      uint32_t period_ns)
{
    struct cpu_signals *signals = calloc(1, sizeof(*signals));
    int error;

    if (!signals)
        return NULL;
    signals->pid = pid;
    signals->watch = watch;
    signals->willing = willing;
    signals->attributes = (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(signals->attributes),
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = period_ns,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .remove_on_exec = 1, /* kernels before 5.13 refuse it: then there are no signals */
    };
    if (is_allowed(signals))
        return signals;
    error = errno;
    free(signals);
    errno = error;
    return NULL;
}

void cpu_signals_end(struct cpu_signals *signals)
{
    struct thread_signals *thread, *next;

    if (!signals)
        return;
    HASH_ITER(hh, signals->threads, thread, next)
    drop(signals, thread);
    free(signals);
}
