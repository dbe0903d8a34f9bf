/*
 * How a program ends, ten frames deep: exit, quick_exit, _exit, abort, a signal, SIGKILL, a return;
 * in a thread, in a handler. atexit handlers and destructors call functions.
 */
#define _GNU_SOURCE
#include "program.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

COUNTED void at_exit_work(void)
{
    printf("atexit: %ld\n", fib(10));
}

__attribute__((destructor)) COUNTED void destructor_work(void)
{
    printf("destructor: %ld\n", fib(8));
    fflush(stdout);
}

COUNTED void end(const char *how)
{
    printf("ends by %s\n", how);
    fflush(stdout);
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(4);
    if (strcmp(how, "_exit") == 0)
        _exit(5);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "term") == 0)
        raise(SIGTERM);
    if (strcmp(how, "segv") == 0)
        *(volatile int *)(strlen(how) * 4) = 1;
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
}

COUNTED long descend(long depth, const char *how)
{
    long below = 0;
    if (depth == 0)
        end(how);
    else
        below = descend(depth - 1, how);
    OPAQUE(below);
    return below + 1;
}

static void *thread_main(void *how)
{
    descend(9, how);
    return NULL;
}

COUNTED void handler(int signal)
{
    (void)signal;
    descend(9, "exit");
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 2 || argc == 3);
    const char *where = argc == 3 ? argv[2] : "here";
    atexit(at_exit_work);
    signal(SIGUSR1, handler);
    if (strcmp(where, "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, thread_main, argv[1]);
        pthread_join(thread, NULL);
    } else if (strcmp(where, "handler") == 0) {
        raise(SIGUSR1);
    }
    descend(9, argv[1]);
    return 6;
}
