#include "support/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

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
