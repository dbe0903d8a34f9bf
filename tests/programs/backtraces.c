/*
 * backtrace() from below functions of different names, from a handler, and after a longjmp: prints
 * the names of the program's own frames; frames of other modules and without a name are left out.
 */
#define _GNU_SOURCE
#include "program.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

static jmp_buf again;

/* Return addresses point behind a call: one byte back is certainly within the caller. */
COUNTED void print_callers(const char *title)
{
    void *frames[256];
    Dl_info here, frame;
    int count = backtrace(frames, 256);
    REQUIRE(dladdr((void *)&print_callers, &here));
    printf("%s:", title);
    for (int i = 0; i < count; i++) {
        if (!dladdr((char *)frames[i] - 1, &frame) || frame.dli_fbase != here.dli_fbase)
            continue;
        if (frame.dli_sname && strcmp(frame.dli_sname, "_start") != 0)
            printf(" %s", frame.dli_sname);
    }
    printf("\n");
}

COUNTED void innermost(const char *title)
{
    print_callers(title);
    OPAQUE(title);
}

COUNTED void alpha(const char *title, int depth);

COUNTED void beta(const char *title, int depth)
{
    if (depth == 0)
        innermost(title);
    else
        alpha(title, depth - 1);
    OPAQUE(title);
}

COUNTED void alpha(const char *title, int depth)
{
    char filling[64];
    memset(filling, depth, sizeof(filling));
    char *kept = filling;
    OPAQUE(kept);
    beta(title, depth);
    OPAQUE(kept);
}

COUNTED void handler(int signal)
{
    (void)signal;
    alpha("in a handler", 2);
}

COUNTED void jump_back(void)
{
    longjmp(again, 1);
}

COUNTED int compare(const void *left, const void *right)
{
    static int printed;
    if (!printed++)
        innermost("below qsort");
    return *(const int *)left - *(const int *)right;
}

int main(void)
{
    int numbers[] = {3, 1, 2};
    signal(SIGUSR1, handler);
    alpha("plain", 5);
    raise(SIGUSR1);
    if (setjmp(again) == 0)
        jump_back();
    beta("after a longjmp", 4);
    qsort(numbers, 3, sizeof(int), compare);
    return 0;
}
