/*
 * A program that closes all its descriptors, then computes: before it forks, in its child, in
 * itself, in a thread, and in what it executes, which is itself with the argument `after`. Waits
 * for signals meanwhile, all of which it blocks: one that comes ends it with status 3. What each
 * function took of its thread's processor time goes to the file of the first argument, a line each.
 */
#include "computing.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 150

static const char *file;

static void say(const char *name, long long ns)
{
    char line[80];
    int length = snprintf(line, sizeof line, "%s %lld\n", name, ns);
    int to = open(file, O_WRONLY | O_CREAT | O_APPEND, 0666);

    if (write(to, line, (size_t)length) != length)
        exit(4);
    close(to);
}

static void compute(const char *name)
{
    long long begin = now();

    while (now() < begin + MS * 1000000ll)
        sink += turn(20000);
    say(name, now() - begin);
}

ALONE void before_fork(void)
{
    compute("before_fork");
    sink++;
}

ALONE void in_child(void)
{
    compute("in_child");
    sink++;
}

ALONE void in_parent(void)
{
    compute("in_parent");
    sink++;
}

ALONE void in_thread(void)
{
    compute("in_thread");
    sink++;
}

ALONE void after_exec(void)
{
    compute("after_exec");
    sink++;
}

static void *thread(void *argument)
{
    in_thread();
    return argument;
}

/* Computes, too, so that there would be something to sample. */
static void *wait_for_signals(void *argument)
{
    const struct timespec none = {0, 100000};
    sigset_t all;

    (void)argument;
    sigfillset(&all);
    for (int i = 0; i < 500; i++) {
        sink += turn(20000);
        if (sigtimedwait(&all, NULL, &none) >= 0)
            _exit(3);
    }
    return NULL;
}

static void with_signals_blocked(void)
{
    sigset_t waited_for, before;
    pthread_t waiting;

    sigemptyset(&waited_for);
    sigaddset(&waited_for, SIGURG);
    sigaddset(&waited_for, SIGTERM);
    pthread_sigmask(SIG_SETMASK, &waited_for, &before);
    pthread_create(&waiting, NULL, wait_for_signals, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_join(waiting, NULL);
}

int main(int argc, char **argv)
{
    pthread_t other;
    int status = 0;
    pid_t child;

    if (argc < 2)
        return 5;
    file = argv[1];
    if (argc > 2) {
        after_exec();
        return 0;
    }
    for (int i = 3; i < 1024; i++)
        close(i);
    before_fork();
    child = fork();
    if (!child) {
        in_child();
        exit(0);
    }
    pthread_create(&other, NULL, thread, NULL);
    in_parent();
    pthread_join(other, NULL);
    if (waitpid(child, &status, 0) < 0 || status)
        return 6;
    with_signals_blocked();
    execl(argv[0], argv[0], file, "after", (char *)NULL);
    return 7;
}
