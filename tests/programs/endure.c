/*
 * Does to itself what programs do to be safe, and then works on, in new threads too:  endure HOW
 *
 *      chroot      into an empty directory, without /proc
 *      user        to user and group 65534
 *      seccomp     a filter: opening files, sockets and the like fails with EPERM
 *      memory      RLIMIT_AS at what is in use and 64 MiB
 *      descriptors none left, and RLIMIT_NOFILE 3
 *      handlers    its own for every signal, and all blocked
 *      nothing
 */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 6

COUNTED void *work(void *n)
{
    long result = fib((long)n);

    OPAQUE(result);
    return (void *)result;
}

COUNTED long work_in_threads(void)
{
    pthread_t threads[THREADS];
    long sum = 0;
    void *result;

    for (long i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], 0, work, (void *)(15 + i)) == 0);
    for (int i = 0; i < THREADS; i++) {
        REQUIRE(pthread_join(threads[i], &result) == 0);
        sum += (long)result;
    }
    return sum;
}

COUNTED void into_chroot(void)
{
    char folder[] = "/tmp/endure.XXXXXX";

    REQUIRE(mkdtemp(folder) && chdir(folder) == 0 && rmdir(folder) == 0);
    if (chroot(".") != 0 && chroot("/proc/self/fdinfo") != 0)
        REQUIRE(errno == EPERM);
}

COUNTED void to_user(void)
{
    if (geteuid() == 0)
        REQUIRE(setgid(65534) == 0 && setuid(65534) == 0);
}

#define REFUSE(number)                                                                             \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                             \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

COUNTED void under_filter(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(SYS_open),
        REFUSE(SYS_openat),
        REFUSE(SYS_socket),
        REFUSE(SYS_connect),
        REFUSE(SYS_execve),
        REFUSE(SYS_mremap),
        REFUSE(SYS_gettid),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    REQUIRE(open("/dev/null", O_RDONLY) < 0 && errno == EPERM);
}

COUNTED void limit_memory(void)
{
    struct rlimit limit;
    char line[128];
    FILE *file = fopen("/proc/self/statm", "r");
    long pages;

    REQUIRE(file && fgets(line, sizeof(line), file));
    fclose(file);
    pages = atol(line) + (64 << 20) / 4096;
    limit = (struct rlimit){(rlim_t)pages * 4096, (rlim_t)pages * 4096};
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
}

COUNTED void use_up_descriptors(void)
{
    while (dup(1) >= 0)
        ;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, 3}) == 0);
}

COUNTED void handle(int number)
{
    (void)number;
}

COUNTED void handle_all_signals(void)
{
    struct sigaction action = {.sa_handler = handle};
    sigset_t all;

    for (int i = 1; i < 32; i++)
        if (i != SIGKILL && i != SIGSTOP)
            REQUIRE(sigaction(i, &action, 0) == 0);
    raise(SIGUSR1);
    sigfillset(&all);
    REQUIRE(sigprocmask(SIG_SETMASK, &all, 0) == 0);
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } ways[] = {
        {"chroot", into_chroot},
        {"user", to_user},
        {"seccomp", under_filter},
        {"memory", limit_memory},
        {"descriptors", use_up_descriptors},
        {"handlers", handle_all_signals},
    };

    REQUIRE(count == 2);
    printf("before: %ld\n", work_in_threads());
    fflush(stdout);
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        if (!strcmp(arguments[1], ways[i].name))
            ways[i].function();
    printf("after: %ld\n", work_in_threads());
    return 0;
}
