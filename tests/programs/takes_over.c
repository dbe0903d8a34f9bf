/*
 * A child that has become another user, before it calls a hooked function, looks for memory that
 * its parent jumps by:  takes_over fork|clone UID
 *
 * It writes the address of `stolen` over the hook word of each trace that it can make writable, and
 * says how many there were. The parent then calls hooked functions. The child is made by fork(), or
 * by the system call alone, of which nothing tells the agent.
 */
#define _GNU_SOURCE
#include "bare_call.h"
#include "program.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/trace_format.h"

#define STATUS 66

/* The child's functions call none that is hooked, so none of the C library's in a static program.
 */
#define WITHIN static inline __attribute__((always_inline))

COUNTED void stolen(void)
{
    static const char text[] = "stolen\n";

    call_system(SYS_write, STDOUT_FILENO, (long)text, sizeof text - 1);
    call_system(SYS_exit_group, STATUS, 0, 0);
}

WITHIN int aim(char *page)
{
    struct trace_header *header = (struct trace_header *)page;

    if (call_system(SYS_mprotect, (long)page, TRACE_HEADER_SIZE, PROT_READ | PROT_WRITE) != 0 ||
        *(const volatile uint64_t *)header->magic != *(const uint64_t *)(const void *)TRACE_MAGIC)
        return 0;
    header->hook = header->entry = header->on_site = (uint64_t)stolen;
    return 1;
}

/* "7f3ae87d1000-7f3ae87d2000 r--s …": the address, if the mapping is shared; else 0. */
WITHIN uint64_t shared_at(const char *line)
{
    uint64_t begin = 0;

    for (; *line != '-'; line++)
        begin = begin << 4 | (uint64_t)(*line <= '9' ? *line - '0' : *line - 'a' + 10);
    while (*line != ' ')
        line++;
    return line[4] == 's' ? begin : 0;
}

static char maps[1 << 16];

/* Not hooked, and calls nothing that is. */
COUNTED int take_over(uid_t user)
{
    long file, size;
    char *at = maps;
    int found = 0;

    if (call_system(SYS_setresgid, user, user, user) ||
        call_system(SYS_setresuid, user, user, user))
        return 99;
    file = call_system(SYS_open, (long)"/proc/self/maps", 0, 0);
    while ((size = call_system(SYS_read, file, (long)at, 4096)) > 0)
        at += size;
    for (char *line = maps; line < at; line++) {
        uint64_t page = shared_at(line);
        if (page)
            found += aim((char *)page);
        while (*line != '\n')
            line++;
    }
    return at > maps ? found : 99;
}

static pid_t make_child(const char *how)
{
    return strcmp(how, "clone") ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
    int status;
    pid_t child;
    uid_t user;

    REQUIRE(argc == 3);
    user = (uid_t)atoi(argv[2]);
    printf("%ld\n", fib(10));
    fflush(stdout);
    child = make_child(argv[1]);
    if (child == 0)
        call_system(SYS_exit_group, take_over(user), 0, 0);
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    printf("%ld, %d written\n", fib(10), WEXITSTATUS(status));
    return 0;
}

void (*volatile kept)(void) = stolen;
