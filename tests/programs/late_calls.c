/* Only children load the library: what it calls are the first hooked functions that they call. */
#define _GNU_SOURCE
#include "program.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

COUNTED long call_late(long number)
{
    void *library = dlopen("liblate.so", RTLD_NOW);
    long (*late)(long) = library ? (long (*)(long))dlsym(library, "late") : 0;

    return late ? late(number) : -1;
}

static pid_t make_child(int is_raw)
{
    return is_raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
}

int main(void)
{
    printf("%ld\n", fib(10));
    fflush(stdout);
    for (int i = 0; i < 4; i++) {
        int status;
        const pid_t child = make_child(i & 1);

        if (child == 0)
            _exit(call_late(i) == 3 * i ? 7 : 8);
        REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
        printf("child %d: %d\n", i, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
    return 0;
}
