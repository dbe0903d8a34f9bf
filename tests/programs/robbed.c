/*
 * Works for a while and prints a sum:  robbed [HOW]
 *
 *      wait       until somebody has it call `stolen`
 *      fork UID   in a child that has become that user
 *
 * Nothing in it calls `stolen`: somebody who can write to the trace does, by its hook word. The
 * function is at a fixed address and not hooked itself, and says so without any other function.
 */
#define _GNU_SOURCE
#include "bare_call.h"
#include "program.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 300
#define STATUS 66

COUNTED void stolen(void)
{
    static const char text[] = "stolen\n";

    call_system(SYS_write, STDOUT_FILENO, (long)text, sizeof text - 1);
    call_system(SYS_exit_group, STATUS, 0, 0);
}

/* Time for others, too. */
static long work(void)
{
    long sum = fib(10);

    usleep(1000);
    return sum;
}

static long work_in_child(uid_t user)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        REQUIRE(setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0);
        for (int i = 0; i < ROUNDS; i++)
            work();
        _exit(0);
    }
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    long sum = 0;

    OPAQUE(how);
    if (!strcmp(how, "fork") && argc > 2)
        sum = work_in_child((uid_t)atoi(argv[2]));
    else
        for (int i = 0; i < ROUNDS || !strcmp(how, "wait"); i++)
            sum += work();
    printf("%ld\n", sum);
    return 0;
}

void (*volatile kept)(void) = stolen;
