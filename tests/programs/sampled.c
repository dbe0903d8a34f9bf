/*
 * Functions that compute for as long as they are told, of their thread's processor time, and say on
 * standard error for how long each of them did. How: the argument.
 */
#include "computing.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static long turns_of_ms; /* that turn makes in a millisecond */

static void measure(void)
{
    long long least = 1ll << 60;

    for (int i = 0; i < 5; i++) {
        long long begin = now();

        sink += turn(1000000);
        if (now() - begin < least)
            least = now() - begin;
    }
    turns_of_ms = 1000000ll * 1000000 / least;
}

/* Its own loop; what it calls is a thousandth of that. */
ALONE void shallow(long ms)
{
    for (long i = 0; i < ms * turns_of_ms; i++)
        sink = sink * 3 + i;
    sink += turn(1);
}

/* Calls turn a hundred times a millisecond. */
ALONE void caller(long ms)
{
    for (long i = 0; i < ms * 100; i++)
        sink += turn(turns_of_ms / 100);
}

ALONE void recursive(long depth, long ms)
{
    char room[100];

    room[depth % 100] = 1;
    if (depth)
        recursive(depth - 1, ms);
    else
        caller(ms);
    sink += room[depth % 100];
}

/* A million calls of a few nanoseconds, one of 400 ms. */
ALONE void rarely_slow(long i)
{
    if (i == 777777)
        caller(400);
    sink += i;
}

/* A probe makes that a function is not copied. */
#define PROBE(name)                                                                                \
    __asm__ volatile("1: nop\n"                                                                    \
                     ".pushsection .note.stapsdt, \"?\", \"note\"\n"                               \
                     ".balign 4\n"                                                                 \
                     ".4byte 3f - 2f, 5f - 4f, 3\n"                                                \
                     "2: .asciz \"stapsdt\"\n"                                                     \
                     "3: .balign 4\n"                                                              \
                     "4: .8byte 1b, 0, 0\n"                                                        \
                     ".asciz \"sampled\", \"" name "\", \"\"\n"                                    \
                     "5: .balign 4\n"                                                              \
                     ".popsection")

ALONE void newcomer(void)
{
    PROBE("newcomer");
    sink += turn(10);
}

/* Goes on after a first call, of a function with a record above its own. */
ALONE void probed(long ms)
{
    PROBE("probed");
    newcomer();
    for (long i = 0; i < ms * turns_of_ms; i++)
        sink = sink * 3 + i;
}

static int order(const void *left, const void *right)
{
    sink += turn(turns_of_ms / 1000);
    return *(const int *)left - *(const int *)right;
}

/* The C library calls back. */
ALONE void sorted(void)
{
    static int numbers[30000];

    for (size_t i = 0; i < 30000; i++)
        numbers[i] = (int)(i * 7919 % 30011);
    qsort(numbers, 30000, sizeof *numbers, order);
}

/* Most of it in the kernel. */
ALONE void reading(long ms)
{
    static char buffer[1 << 20];
    FILE *zero = fopen("/dev/zero", "r");
    long long end = now() + ms * 1000000ll;

    setvbuf(zero, NULL, _IONBF, 0);
    while (now() < end)
        sink += (long)fread(buffer, 1, sizeof buffer, zero);
    fclose(zero);
}

/* By turns of other lengths than those of the kernel's clock: else its ticks might all come in the
 * sleeps. */
ALONE void sleeping(void)
{
    for (int i = 0; i < 100; i++) {
        sink += turn((1 + i % 3) * turns_of_ms);
        if (poll(NULL, 0, 1 + i * 7 % 5) < 0 && errno == EINTR)
            exit(3);
    }
}

static long long thread_ns, masked_ns; /* that these two have seen themselves */

static void *thread(void *argument)
{
    long long begin = now();

    (void)argument;
    caller(400);
    thread_ns = now() - begin;
    return NULL;
}

/* Begins with all signals blocked, as each thread does in the C library's own code. */
static void *masked(void *argument)
{
    long long begin = now();

    sink += turn(1);
    pthread_sigmask(SIG_SETMASK, argument, NULL);
    caller(400);
    masked_ns = now() - begin;
    return NULL;
}

static void say(const char *what, long long ns)
{
    fprintf(stderr, "%s %lld\n", what, ns);
}

static volatile int urgent;

static void on_urgent(int number)
{
    urgent += number;
}

/* From here on, system calls by which a handler returns end the program. */
static int forbid_returns(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    long long begin, end;
    sigset_t all, none;
    pthread_t other;

    measure();
    if (!strcmp(how, "reset")) { /* as daemons do */
        for (int i = 1; i < 65; i++)
            signal(i, SIG_DFL);
        caller(50);
        return 0;
    }
    if (!strcmp(how, "urgent")) {
        signal(SIGURG, on_urgent);
        caller(100);
        if (urgent)
            return 4;
        raise(SIGURG);
        return urgent == SIGURG ? 0 : 5;
    }
    if (!strcmp(how, "forbidden")) {
        if (forbid_returns())
            return 6;
        caller(100);
        return 0;
    }
    if (!strcmp(how, "blocked")) {
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        caller(50);
        return 0;
    }
    begin = now();
    shallow(400);
    say("shallow", now() - begin);
    begin = now();
    recursive(50, 400);
    say("recursive", now() - begin);
    begin = now();
    for (long i = 0; i < 1000000; i++)
        rarely_slow(i);
    end = now();
    say("rarely_slow", end - begin);
    begin = now();
    sorted();
    say("sorted", now() - begin);
    begin = now();
    probed(200);
    say("probed", now() - begin);
    begin = now();
    reading(400);
    say("reading", now() - begin);
    begin = now();
    sleeping();
    say("sleeping", now() - begin);
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    say("thread", thread_ns);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &none);
    pthread_create(&other, NULL, masked, &none);
    pthread_join(other, NULL);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    say("masked", masked_ns);
    say("main", now());
    return 0;
}
