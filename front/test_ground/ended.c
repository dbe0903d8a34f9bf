#include "front/test_ground/ended.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static _Noreturn void become(void (*run)(void *argument), void *argument, int output)
{
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    run(argument);
    fflush(stdout);
    _exit(0);
}

struct ended ended_by(void (*run)(void *argument), void *argument)
{
    struct ended ended = {0};
    size_t used = 0;
    ssize_t count;
    int ends[2], status;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        become(run, argument, ends[1]);
    close(ends[1]);
    while ((count = read(ends[0], ended.said + used, sizeof(ended.said) - 1 - used)) > 0)
        used += (size_t)count;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    ended.status = WEXITSTATUS(status);
    return ended;
}
