/*
 * fork: a child that works and exits, one that returns through the frames its parent entered, one
 * forked in a thread, and a tree three levels deep.
 */
#include "program.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

COUNTED long child_work(long n)
{
    long result = fib(n);
    OPAQUE(result);
    return result;
}

static int status_of(pid_t child)
{
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

COUNTED void fork_and_exit(void)
{
    pid_t child = fork();
    if (child == 0)
        exit((int)child_work(10));
    printf("exited: %d\n", status_of(child));
}

/* 0 in the child and its pid in the parent, after both returned through ten frames. */
COUNTED pid_t fork_below(long depth, long *returned)
{
    pid_t child = depth == 0 ? fork() : fork_below(depth - 1, returned);
    ++*returned;
    OPAQUE(child);
    return child;
}

COUNTED void fork_and_return(void)
{
    long returned = 0;
    pid_t child = fork_below(9, &returned);
    if (child == 0)
        exit((int)(returned + child_work(8)));
    printf("returned: %ld, child: %d\n", returned, status_of(child));
}

static void *thread_main(void *argument)
{
    fork_and_exit();
    fork_and_return();
    return argument;
}

static void fork_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_main, NULL);
    pthread_join(thread, NULL);
}

/* Three children a process, three levels: 1 + 3 + 9 + 27 processes, a status of 40. */
COUNTED int tree(long levels)
{
    int processes = 1;
    pid_t children[3];
    child_work(5);
    if (levels == 0)
        return processes;
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        if (children[i] == 0)
            exit(tree(levels - 1));
    }
    for (int i = 0; i < 3; i++)
        processes += status_of(children[i]);
    return processes;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], "tree") == 0) {
        printf("tree: %d processes\n", tree(3));
        return 0;
    }
    fork_and_exit();
    fork_and_return();
    fork_in_thread();
    printf("parent goes on: %ld\n", child_work(12));
    return 0;
}
