/*
 * Has itself paused and resumed by the tool named SERVICE in the environment, deep in recursions,
 * loops and handlers, so that there are frames of all kinds: entered before a pause, in it and
 * behind it, and calls from each of them in all three.
 */
#define _GNU_SOURCE
#include "program.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLED __attribute__((noinline))

static long sum;
static jmp_buf out;
extern char **environ;

CALLED static long note(long n)
{
    sum = sum * 3 + n;
    return sum & 15;
}

/* Returns when it is done, or cannot be, as where nobody serves. */
CALLED static void service(const char *command)
{
    char option[32], *arguments[] = {getenv("SERVICE"), (char *)command, option, NULL};
    posix_spawn_file_actions_t actions;
    pid_t tool;
    int status;

    if (!arguments[0])
        return;
    snprintf(option, sizeof option, "--pid=%d", (int)getpid());
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    REQUIRE(posix_spawn(&tool, arguments[0], &actions, NULL, arguments, environ) == 0);
    REQUIRE(waitpid(tool, &status, 0) == tool);
    posix_spawn_file_actions_destroy(&actions);
}

/* Pauses at one depth and resumes at another, on the way down or up. */
CALLED static long descend(long depth, long pause, long resume)
{
    long below;

    if (depth == pause)
        service("pause");
    if (depth == resume)
        service("resume");
    below = depth ? descend(depth - 1, pause, resume) : note(depth);
    if (depth == -pause)
        service("pause");
    if (depth == -resume)
        service("resume");
    return note(below) + note(depth);
}

CALLED static long leave(long depth)
{
    if (depth)
        return leave(depth - 1) + note(depth);
    longjmp(out, 1);
}

CALLED static long jump(long n);

CALLED static long jump_on(long n)
{
    if (n == 5)
        service("pause");
    if (n == 2)
        service("resume");
    return jump(n - 1);
}

CALLED static long jump(long n)
{
    note(n);
    return n > 0 ? jump_on(n) : 1;
}

CALLED static int compare(const void *left, const void *right)
{
    return (int)(note(*(const int *)left) - note(*(const int *)right));
}

CALLED static void sort(const char *command)
{
    int numbers[] = {5, 1, 4, 9, 2};

    service(command);
    qsort(numbers, 5, sizeof *numbers, compare);
    note(numbers[0]);
}

CALLED static void handle(int number)
{
    sort("pause");
    note(number);
    sort("resume");
}

int main(void)
{
    signal(SIGUSR1, handle);
    descend(9, 6, 3);
    descend(9, 6, -3);
    descend(9, -3, -6);
    descend(9, 5, -5);
    descend(9, 2, -4);
    for (volatile int i = 0; i < 6; i++) {
        service(i % 2 ? "resume" : "pause");
        if (setjmp(out) == 0)
            leave(4);
        note(i);
    }
    jump(8);
    sort("pause");
    sort("resume");
    raise(SIGUSR1);
    printf("sum: %ld\n", sum);
    return 0;
}
