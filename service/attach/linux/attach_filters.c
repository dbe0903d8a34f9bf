/*
 * The kernel shows filters of a thread that stands, to who has CAP_SYS_ADMIN in the first user
 * namespace, and no filters himself. What it shows are their programs, which are run here for each
 * call.
 *
 * A thread that is stopped amid nanosleep or poll, say, goes on by restart_syscall, with what is
 * left of the time. That is a call that a filter sees, too, and may kill for. Such a thread gets
 * its first call once more, and the program is refused.
 */
#include "service/attach/linux/attach_filters.h"

#include <asm/prctl.h>
#include <dirent.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <unistd.h>
#include <xxhash.h>

#include "support/agent_calls.h"

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif

#define ANY         SYSTEM_CALL_ANY
#define NO_FILE     UINT64_MAX
#define PRIVATE     MAP_PRIVATE | MAP_ANONYMOUS
#define SYS_ADMIN   21  /* CAP_SYS_ADMIN */
#define MOST_KNOWN  256 /* filters; a systemd unit has up to some 20 */
#define COUNT(list) (sizeof(list) / sizeof(*(list)))

/* Calls of a thread that stands, and of the agent as it begins, beside those of agent_calls. */
static const struct system_call calls[] = {
    SYSTEM_CALL(mmap, 0, ATTACHED_PAGE, PROT_READ | PROT_WRITE, PRIVATE, NO_FILE, 0),
    SYSTEM_CALL(mmap, 0, ATTACHED_PAGE, PROT_NONE, PRIVATE | MAP_NORESERVE, NO_FILE, 0),
    SYSTEM_CALL(mmap, ANY, ATTACHED_PAGE, PROT_READ | PROT_WRITE, PRIVATE | MAP_FIXED, NO_FILE, 0),
    SYSTEM_CALL(mmap, ANY, ATTACHED_PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, 3, 0),
    SYSTEM_CALL(mmap, ANY, ATTACHED_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, 3, 0),
    SYSTEM_CALL(mmap, ANY, ATTACHED_PAGE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, 3, 0),
    SYSTEM_CALL(mmap, ANY, ATTACHED_PAGE, PROT_READ | PROT_WRITE, PRIVATE | MAP_FIXED_NOREPLACE,
                NO_FILE, 0),
    SYSTEM_CALL(mmap, ANY, ATTACHED_PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, 3, 0),
    SYSTEM_CALL(mmap, ANY, ATTACHED_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE,
                3, 0),
    SYSTEM_CALL(mmap, 0, ATTACHED_PAGE, PROT_NONE, MAP_SHARED, 3, 0),
    SYSTEM_CALL(arch_prctl, ARCH_SET_GS, ANY),
};

/* The same in a program that sees other files than ours. */
static const struct system_call calls_for_other_files[] = {
    SYSTEM_CALL(memfd_create, ANY, MFD_CLOEXEC),
};

/* Made on the kernel's way back from a stop. */
static const struct system_call resumption = SYSTEM_CALL(restart_syscall, 0);

/* What a look at the threads knows already. */
struct look {
    const struct attached *attached;
    pid_t tid;                                /* whose filters are looked at */
    struct sock_filter program[BPF_MAXINSNS]; /* one of them */
    uint64_t known[MOST_KNOWN];               /* hashes of those that allow all */
    size_t known_count;
};

static int mode_of(pid_t pid, pid_t tid)
{
    char mode[THREAD_STATUS_VALUE];

    return thread_status(pid, tid, "Seccomp:\t", mode) ? atoi(mode) : SECCOMP_MODE_DISABLED;
}

static bool refuse_strict(pid_t tid, struct failure *failure)
{
    return fail_because(failure,
                        "has forbidden itself system calls (seccomp, thread %d: strict mode), "
                        "which the agent needs",
                        (int)tid);
}

static bool refuse_unread(int error, struct failure *failure)
{
    if (error != EACCES)
        return fail_because(failure, "has seccomp filters, which this kernel does not show: %s",
                            strerror(error));
    return fail_because(
        failure,
        "has seccomp filters, which may forbid what the agent needs. Who has CAP_SYS_ADMIN, and no "
        "filters himself, can find out: as root, setpriv --reuid=%u --regid=%u --clear-groups "
        "--inh-caps=+sys_admin --ambient-caps=+sys_admin call_trace_service attach",
        (unsigned)geteuid(), (unsigned)getegid());
}

/* Whether all of the system's users have numbers here, as in the first user namespace. */
static bool is_first_namespace(void)
{
    unsigned long inside = 1, outside = 1, count = 0;
    FILE *file = fopen("/proc/self/uid_map", "re");
    bool is_read = file && fscanf(file, "%lu %lu %lu", &inside, &outside, &count) == 3;

    if (file)
        fclose(file);
    return is_read && !inside && !outside && count == UINT32_MAX;
}

static bool may_read_filters(void)
{
    pid_t self = getpid();
    char capabilities[THREAD_STATUS_VALUE];

    return thread_status(self, self, "CapEff:\t", capabilities) &&
           strtoull(capabilities, NULL, 16) >> SYS_ADMIN & 1 && is_first_namespace() &&
           mode_of(self, self) == SECCOMP_MODE_DISABLED;
}

static bool look_from_outside(pid_t pid, pid_t tid, bool *has_filters, struct failure *failure)
{
    int mode = mode_of(pid, tid);

    if (mode == SECCOMP_MODE_STRICT)
        return refuse_strict(tid, failure);
    if (mode == SECCOMP_MODE_FILTER && !may_read_filters())
        return refuse_unread(EACCES, failure);
    *has_filters |= mode == SECCOMP_MODE_FILTER;
    return true;
}

bool attach_filters_are_readable(pid_t pid, bool *has_filters, struct failure *failure)
{
    char path[64];
    struct dirent *entry;
    DIR *directory;
    bool are_readable = true;

    *has_filters = false;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    directory = opendir(path);
    while (directory && are_readable && (entry = readdir(directory)))
        are_readable = look_from_outside(pid, atoi(entry->d_name), has_filters, failure);
    if (directory)
        closedir(directory);
    return are_readable;
}

static const char *effect_of(uint32_t answer)
{
    switch (answer & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_KILL_THREAD:
        return "ends the thread";
    case SECCOMP_RET_TRAP:
        return "sends SIGSYS";
    case SECCOMP_RET_ERRNO:
        return strerror((int)(answer & SECCOMP_RET_DATA));
    case SECCOMP_RET_USER_NOTIF:
        return "asks a supervisor";
    case SECCOMP_RET_TRACE:
        return "asks a tracer";
    default:
        return "kills the process";
    }
}

static bool allows(const struct look *look, uint32_t length, const struct system_call *call,
                   struct failure *failure)
{
    uint32_t answer = system_call_answer(look->program, length, call);

    return system_call_is_allowed(answer) ||
           fail_because(failure,
                        "has forbidden itself %s (seccomp, thread %d: %s), which the agent needs",
                        call->name, (int)look->tid, effect_of(answer));
}

static bool allows_each(const struct look *look, uint32_t length, const struct system_call *list,
                        size_t count, struct failure *failure)
{
    for (size_t i = 0; i < count; i++)
        if (!allows(look, length, &list[i], failure))
            return false;
    return true;
}

static bool allows_all(const struct look *look, uint32_t length, struct failure *failure)
{
    return allows(look, length, &resumption, failure) &&
           allows_each(look, length, calls, COUNT(calls), failure) &&
           allows_each(look, length, agent_calls, agent_call_count, failure) &&
           (look->attached->files.are_ours || allows_each(look, length, calls_for_other_files,
                                                          COUNT(calls_for_other_files), failure));
}

/* Threads have most filters in common. */
static bool is_known(const struct look *look, uint64_t hash)
{
    for (size_t i = 0; i < look->known_count; i++)
        if (look->known[i] == hash)
            return true;
    return false;
}

static bool look_at_filter(struct look *look, uint32_t length, struct failure *failure)
{
    uint64_t hash = XXH3_64bits(look->program, length * sizeof(*look->program));

    if (is_known(look, hash))
        return true;
    if (!allows_all(look, length, failure))
        return false;
    if (look->known_count < MOST_KNOWN)
        look->known[look->known_count++] = hash;
    return true;
}

/* Those of a thread are counted from 0 on. Its length; 0: there is none; -1, errno set. */
static long read_filter(struct look *look, uint64_t place)
{
    long length = ptrace(PTRACE_SECCOMP_GET_FILTER, look->tid, place, look->program);

    return length < 0 && (errno == ENOENT || errno == ESRCH) ? 0 : length;
}

static bool look_at_filters(struct look *look, struct failure *failure)
{
    long length;

    for (uint64_t i = 0; (length = read_filter(look, i)) > 0; i++)
        if (!look_at_filter(look, (uint32_t)length, failure))
            return false;
    return !length || refuse_unread(errno, failure);
}

static bool look_at_thread(struct look *look, struct failure *failure)
{
    switch (mode_of(look->attached->pid, look->tid)) {
    case SECCOMP_MODE_DISABLED:
        return true;
    case SECCOMP_MODE_FILTER:
        return look_at_filters(look, failure);
    default:
        return refuse_strict(look->tid, failure);
    }
}

static bool may_resume(struct look *look)
{
    struct failure ignored;
    long length;

    for (uint64_t i = 0; (length = read_filter(look, i)) > 0; i++)
        if (!allows(look, (uint32_t)length, &resumption, &ignored))
            return false;
    return true;
}

static void leave_as_it_was(struct look *look, const struct tracees *tracees)
{
    for (size_t i = 0; i < tracees->count; i++) {
        look->tid = tracees->items[i].tid;
        if (!may_resume(look))
            tracee_begin_call_anew(&tracees->items[i]);
    }
}

bool attach_filters_allow(const struct attached *attached, const struct tracees *tracees,
                          struct failure *failure)
{
    struct look *look;
    bool is_allowed = true;

    if (!attached->has_filters)
        return true;
    look = malloc(sizeof(*look));
    if (!look)
        return fail_because(failure, "out of memory");
    look->attached = attached;
    look->known_count = 0;
    for (size_t i = 0; is_allowed && i < tracees->count; i++) {
        look->tid = tracees->items[i].tid;
        is_allowed = look_at_thread(look, failure);
    }
    if (!is_allowed)
        leave_as_it_was(look, tracees);
    free(look);
    return is_allowed;
}
