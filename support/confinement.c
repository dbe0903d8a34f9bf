#include "support/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(array)       (sizeof(array) / sizeof(*(array)))
#define FIELD(name)        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define RETURN(what)       BPF_STMT(BPF_RET | BPF_K, what)
#define SKIP_UNLESS(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1)
#define REFUSED            (SECCOMP_RET_ERRNO | EPERM)

/* Two instructions: the number of the call is loaded. */
#define ALLOW(call) SKIP_UNLESS(call), RETURN(SECCOMP_RET_ALLOW)

/* The low half of an argument is enough: of the high one, the kernel looks at none here. */
#define LOW_OF(argument) FIELD(args[argument])

/* Opening: for reading only, and nothing that comes to be by it. */
static const struct sock_filter opening[] = {
    FIELD(nr),
    ALLOW(SYS_getcwd),
    ALLOW(SYS_readlink),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4),
    LOW_OF(2),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY),
             1, 0),
    RETURN(SECCOMP_RET_ALLOW),
    RETURN(REFUSED),
};

/* `more` goes in front: it decides, or comes to its end. */
static void install(const struct sock_filter *more, size_t more_count, int output)
{
    const struct sock_filter known[] = {
        FIELD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        RETURN(REFUSED),
    };
    const struct sock_filter rest[] = {
        FIELD(nr),
        ALLOW(SYS_read),
        ALLOW(SYS_pread64),
        ALLOW(SYS_lseek),
        ALLOW(SYS_fstat),
        ALLOW(SYS_close),
        ALLOW(SYS_dup),
        ALLOW(SYS_munmap),
        ALLOW(SYS_mremap),
        ALLOW(SYS_madvise),
        ALLOW(SYS_brk),
        ALLOW(SYS_exit),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_sigaltstack), /* AddressSanitizer, where a function does not return */
        /* What glibc calls for fstat. Of other files it gets no more than size and times. */
        ALLOW(SYS_newfstatat),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 4),
        LOW_OF(0),
        SKIP_UNLESS((uint32_t)output),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(REFUSED),
        /* Memory, but no code. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        LOW_OF(2),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(REFUSED),
    };
    struct sock_filter code[COUNT(known) + COUNT(opening) + COUNT(rest)];
    struct sock_fprog program = {0, code};

    memcpy(code, known, sizeof(known));
    memcpy(code + COUNT(known), more, more_count * sizeof(*more));
    memcpy(code + COUNT(known) + more_count, rest, sizeof(rest));
    program.len = (unsigned short)(COUNT(known) + more_count + COUNT(rest));

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void confine(int output)
{
    install(opening, 0, output);
}

void confine_reader(void)
{
    install(opening, COUNT(opening), -1);
}

/* --- a tool --- */

/* What reaches beyond the files that Landlock watches. */
static const int beyond[] = {
    SYS_execve,
    SYS_execveat,
    SYS_clone3,
    SYS_socket,
    SYS_socketpair,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_kill,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_process_madvise,
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_move_mount,
    SYS_open_tree,
    SYS_mount_setattr,
    SYS_fsopen,
    SYS_fsmount,
    SYS_fsconfig,
    SYS_fspick,
    SYS_pivot_root,
    SYS_chroot,
    SYS_open_by_handle_at,
    SYS_chmod,
    SYS_fchmodat,
    SYS_chown,
    SYS_fchown,
    SYS_lchown,
    SYS_fchownat,
    SYS_truncate,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_mknod,
    SYS_mknodat,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_shmat,
    SYS_shmget,
    SYS_shmctl,
    SYS_semctl,
    SYS_msgctl,
    SYS_mq_open,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_iopl,
    SYS_ioperm,
    SYS_acct,
    SYS_quotactl,
    SYS_syslog,
    SYS_fanotify_init,
    SYS_setpriority,
    SYS_sched_setaffinity,
    SYS_sched_setscheduler,
    SYS_sched_setattr,
};

#define NEW_NAMESPACES                                                                             \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |     \
     CLONE_NEWCGROUP)
#define X32_BIT   0x40000000u
#define LAST_CALL 451 /* cachestat. Later ones do what older ones do, such as fchmodat2 */
/* More than that it gives nothing but to what it makes: whoever called it does. */
#define NO_MODE 07022

/* clone3 is not there, so that libraries take clone, whose flags can be seen. What is open may be
   another's file: its mode is left as it is where that would give rights. Abort signals itself. */
static void refuse_what_is_beyond(void)
{
    const struct sock_filter begin[] = {
        FIELD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        RETURN(REFUSED),
        FIELD(nr),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, X32_BIT, 0, 1),
        RETURN(REFUSED),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_CALL, 0, 1),
        RETURN(SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
        LOW_OF(0),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 0, 1),
        RETURN(REFUSED),
        RETURN(SECCOMP_RET_ALLOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fchmod, 0, 4),
        LOW_OF(1),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NO_MODE, 0, 1),
        RETURN(SECCOMP_RET_ERRNO | 0),
        RETURN(SECCOMP_RET_ALLOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4),
        LOW_OF(0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0),
        RETURN(REFUSED),
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_filter code[COUNT(begin) + 2 * COUNT(beyond) + 1];
    struct sock_fprog program = {COUNT(code), code};
    struct sock_filter *at = code + COUNT(begin);

    memcpy(code, begin, sizeof(begin));
    for (size_t i = 0; i < COUNT(beyond); i++) {
        *at++ = (struct sock_filter)SKIP_UNLESS((uint32_t)beyond[i]);
        *at++ = (struct sock_filter)RETURN(SECCOMP_RET_ERRNO |
                                           (beyond[i] == SYS_clone3 ? ENOSYS : EPERM));
    }
    *at = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE /* since Linux 6.2 */
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ull << 14)
#endif
#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITING                                                                                    \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_MAKE_REG |   \
     LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define OF_FILES                                                                                   \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)

/* What the kernel's version knows to refuse; 0 if it has no Landlock. The linking of files from one
   folder to another, which the second knows of, is refused by the first. */
static uint64_t known_accesses(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    if (version < 1)
        return 0;
    return (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1 +
           (version >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0);
}

static void allow(int rules, const char *path, uint64_t accesses)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = accesses,
                                              .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    struct stat status;

    if (rule.parent_fd < 0)
        return;
    if (fstat(rule.parent_fd, &status) == 0 && !S_ISDIR(status.st_mode))
        rule.allowed_access &= OF_FILES;
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

static void open_nothing_but(const char *const *readable, const char *output)
{
    uint64_t known = known_accesses();
    const struct landlock_ruleset_attr attributes = {.handled_access_fs = known};
    int rules =
        known ? (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0) : -1;

    if (rules < 0)
        return;
    for (; *readable; readable++)
        allow(rules, *readable, READING & known);
    if (output)
        allow(rules, output, (READING | WRITING) & known);
    allow(rules, "/dev/null", (READING | WRITING) & known);
    syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
}

void confine_tool(const char *const *readable, const char *output)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return;
    open_nothing_but(readable, output);
    refuse_what_is_beyond();
}
