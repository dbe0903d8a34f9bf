/*
 * vfork with exec, vfork with a failing exec, posix_spawn and system of this very program, and
 * exec of itself: the same process, two programs' lives.
 */
#define _GNU_SOURCE
#include "program.h"

#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const char *self;

static int status_of(pid_t child)
{
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WEXITSTATUS(status);
}

/* Runs in the child, on the parent's memory and stack. */
COUNTED void replace(const char *path, const char *role)
{
    execl(path, path, role, (char *)NULL);
    _exit(13);
}

COUNTED int by_vfork(const char *path)
{
    pid_t child = vfork();
    if (child == 0)
        replace(path, "leaf");
    return status_of(child);
}

COUNTED int by_posix_spawn(void)
{
    pid_t child;
    char *arguments[] = {(char *)self, "leaf", NULL};
    REQUIRE(posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0);
    return status_of(child);
}

COUNTED int by_system(void)
{
    char command[4096];
    snprintf(command, sizeof(command), "%s leaf", self);
    return WEXITSTATUS(system(command));
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc > 1 && strcmp(argv[1], "leaf") == 0)
        return (int)fib(10);
    if (argc > 1 && strcmp(argv[1], "second") == 0) {
        printf("second life: %ld\n", fib(15));
        return 7;
    }
    printf("vfork: %d\n", by_vfork(self));
    printf("vfork, no such program: %d\n", by_vfork("/nonexistent/program"));
    printf("posix_spawn: %d\n", by_posix_spawn());
    printf("system: %d\n", by_system());
    printf("first life: %ld\n", fib(12));
    fflush(stdout);
    replace(self, "second");
}
