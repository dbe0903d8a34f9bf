/*
 * Forbids itself system calls, and makes others:  filtered CALL EFFECT [WHERE]
 *
 *      CALL     one of `calls` below; `rest`: all but those of the agent, of a service that
 * attaches, and its own EFFECT   one of `effects` below WHERE    all (threads, from the start),
 * thread (one of two alone), later (the first, once SIGUSR2 has come)
 *
 * `filtered strict`: a thread that may do nothing but read and write. There is a filter that allows
 * everything, too, as systemd has one for each setting. On SIGUSR1 both threads make calls, and it
 * says so; SIGTERM ends it.
 */
#include "program.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/agent_calls.h"

#define MOST 400

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"getpriority", SYS_getpriority},   {"mmap", SYS_mmap}, /* with PROT_EXEC */
    {"connect", SYS_connect},           {"openat", SYS_openat},
    {"memfd_create", SYS_memfd_create}, {"restart_syscall", SYS_restart_syscall},
};

static const struct {
    const char *name;
    unsigned answer;
} effects[] = {
    {"kill", SECCOMP_RET_KILL_PROCESS}, {"end", SECCOMP_RET_KILL_THREAD},
    {"trap", SECCOMP_RET_TRAP},         {"errno", SECCOMP_RET_ERRNO | EPERM},
    {"trace", SECCOMP_RET_TRACE},       {"notify", SECCOMP_RET_USER_NOTIF},
    {"log", SECCOMP_RET_LOG},
};

/* What the program itself goes on to do, beside what the agent does. */
static const unsigned own[] = {
    SYS_brk,        SYS_clock_nanosleep, SYS_clone,     SYS_clone3,
    SYS_exit_group, SYS_getpriority,     SYS_getrandom, SYS_restart_syscall,
    SYS_rseq,       SYS_set_robust_list, SYS_write};

static struct sock_filter filter[MOST];
static unsigned short length;
static const char *forbidden, *effect, *where;
static volatile sig_atomic_t turns, adds, ends;
static volatile int is_confined, thread_turns;

static void put(struct sock_filter instruction)
{
    REQUIRE(length < MOST);
    filter[length++] = instruction;
}

static void answer_to(unsigned number, unsigned answer)
{
    put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

static void answer_to_code(unsigned answer)
{
    put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4));
    put((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                     offsetof(struct seccomp_data, args) + 16));
    put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1));
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

static void install(void)
{
    struct sock_fprog program = {length, filter};

    REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    length = 0;
}

static unsigned answer_named(void)
{
    for (size_t i = 0; i < sizeof(effects) / sizeof(*effects); i++)
        if (!strcmp(effects[i].name, effect))
            return effects[i].answer;
    REQUIRE(!"effect");
    return 0;
}

static void forbid_rest(void)
{
    for (uint32_t i = 0; i < agent_call_count; i++)
        answer_to(agent_calls[i].number, SECCOMP_RET_ALLOW);
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        answer_to(own[i], SECCOMP_RET_ALLOW);
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer_named()));
}

static void forbid_one(void)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (!strcmp(calls[i].name, forbidden) && calls[i].number == SYS_mmap)
            answer_to_code(answer_named());
        else if (!strcmp(calls[i].name, forbidden))
            answer_to(calls[i].number, answer_named());
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

static void confine(void)
{
    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    install();
    put((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    if (!strcmp(forbidden, "rest"))
        forbid_rest();
    else
        forbid_one();
    install();
    is_confined = 1;
}

/* Whether what it forbids itself is forbidden. */
static int is_right(int is_under_filter)
{
    int is_refused = getpriority(PRIO_PROCESS, 0) == -1 && errno == EPERM;

    return is_refused ==
           (is_under_filter && !strcmp(forbidden, "getpriority") && !strcmp(effect, "errno"));
}

static void *of_thread(void *unused)
{
    int done = 0;

    (void)unused;
    if (!strcmp(where, "thread"))
        confine();
    if (!strcmp(forbidden, "strict")) {
        char byte;
        int ends_of_pipe[2];

        REQUIRE(pipe(ends_of_pipe) == 0);
        is_confined = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
        while (read(*ends_of_pipe, &byte, 1))
            ;
    }
    for (;; usleep(1000)) {
        if (turns == done)
            continue;
        done++;
        REQUIRE(fib(10) == 55 && is_right(is_confined && strcmp(where, "later")));
        thread_turns = done;
    }
}

static void on_signal(int signal)
{
    *(signal == SIGUSR1 ? &turns : signal == SIGUSR2 ? &adds : &ends) += 1;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int done = 0;

    forbidden = argc > 1 ? argv[1] : "nothing";
    effect = argc > 2 ? argv[2] : "";
    where = argc > 3 ? argv[3] : argc > 2 ? "all" : "";
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_signal);
    signal(SIGTERM, on_signal);
    if (!strcmp(where, "all"))
        confine();
    REQUIRE(pthread_create(&thread, NULL, of_thread, NULL) == 0);
    while (!is_confined && *forbidden != 'n' && strcmp(where, "later"))
        usleep(1000);
    printf("begun\n");
    for (fflush(stdout); !ends; usleep(1000)) {
        if (adds) {
            adds = 0;
            confine();
        }
        if (turns == done)
            continue;
        done++;
        REQUIRE(fib(10) == 55 && is_right(is_confined && strcmp(where, "thread")));
        while (thread_turns < done && strcmp(forbidden, "strict"))
            usleep(1000);
        printf("turn %d\n", done);
        fflush(stdout);
    }
    _exit(0);
}
