/*
 * Takes what a timed call costs out of its own trace, once it is recorded: the trace has it again
 * if the agent calibrates at the end, too. That comes while other threads begin and end, call, and
 * take memory: ExitProcess terminates them wherever they are.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>

#include "trace/trace_format.h"

#define COUNTED __attribute__((noinline))
#define BUSY    4

static volatile int sum;

COUNTED static void add(void)
{
    sum++;
}

static DWORD WINAPI brief(void *unused)
{
    (void)unused;
    add();
    return 0;
}

static DWORD WINAPI busy(void *begun)
{
    for (;;) {
        HANDLE thread = CreateThread(0, 0, brief, 0, 0, 0);
        void *pages = VirtualAlloc(0, 65536, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);

        add();
        WaitForSingleObject(thread, INFINITE);
        CloseHandle(thread);
        VirtualFree(pages, 0, MEM_RELEASE);
        SetEvent(begun);
    }
}

/* Null in a program that is not recorded. */
static struct trace_header *own_trace(void)
{
    MEMORY_BASIC_INFORMATION found;

    for (char *at = 0; VirtualQuery(at, &found, sizeof found);
         at = (char *)found.BaseAddress + found.RegionSize)
        if (found.State == MEM_COMMIT && found.Type == MEM_MAPPED &&
            found.Protect == PAGE_READWRITE &&
            !memcmp(found.BaseAddress, TRACE_MAGIC, sizeof TRACE_MAGIC - 1))
            return found.BaseAddress;
    return 0;
}

int main(void)
{
    HANDLE begun = CreateEventW(0, FALSE, FALSE, 0);
    struct trace_header *trace;

    for (int i = 0; i < BUSY; i++) {
        CreateThread(0, 0, busy, begun, 0, 0);
        WaitForSingleObject(begun, INFINITE);
    }
    trace = own_trace();
    if (trace && !trace->probe_timed)
        return 3;
    if (trace)
        trace->probe_timed = 0;
    printf("probe_timed at %zu, a trace: %d\n", offsetof(struct trace_header, probe_timed),
           trace != 0);
    return 0;
}
