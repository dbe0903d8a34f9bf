#include "service/base/process.h"

#include <windows.h>
#include <errno.h>
#include <psapi.h>
#include <stdlib.h>

#include "service/base/message.h"
#include "service/base/windows/text.h"

/* The C library's; no header of mingw-w64 that is for programs declares it. */
typedef struct {
    int newmode;
} startup_info;
extern int __wgetmainargs(int *argc, wchar_t ***argv, wchar_t ***environment, int expand_wildcards,
                          startup_info *info);

static HANDLE handle_of(int watch)
{
    return (HANDLE)(intptr_t)watch;
}

void process_begin(int *argc, char ***argv)
{
    wchar_t **wide, **environment;
    startup_info info = {0};
    char **text;

    if (__wgetmainargs(argc, &wide, &environment, 0, &info))
        return;
    text = calloc((size_t)*argc + 1, sizeof(*text));
    for (int i = 0; text && i < *argc; i++) {
        text[i] = text_from_new_wide(wide[i]);
        if (!text[i])
            text[i] = "?";
    }
    if (text)
        *argv = text;
}

unsigned process_word_size(pid_t pid)
{
    (void)pid;
    return sizeof(uint64_t);
}

int process_watch(pid_t pid)
{
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)pid);

    return process ? (int)(intptr_t)process : -1;
}

void process_unwatch(int watch)
{
    if (watch >= 0)
        CloseHandle(handle_of(watch));
}

/* Without a watch it was gone before one could be had. */
bool process_is_gone(pid_t pid, int watch)
{
    (void)pid;
    return watch < 0 || WaitForSingleObject(handle_of(watch), 0) == WAIT_OBJECT_0;
}

void process_wait_until_gone(pid_t pid, int watch)
{
    (void)pid;
    if (watch >= 0)
        WaitForSingleObject(handle_of(watch), INFINITE);
}

bool process_is_daemon(pid_t pid)
{
    (void)pid;
    return false;
}

/* That cannot be found out here. */
bool process_may_map(pid_t pid, uint64_t file)
{
    (void)pid;
    (void)file;
    return true;
}

enum trace_system process_own_system(void)
{
    return TRACE_SYSTEM_WINDOWS;
}

void process_each_code(pid_t pid, void (*each)(void *owner, const struct process_code *code),
                       void *owner)
{
    (void)pid, (void)each, (void)owner;
}

int process_open_code(pid_t pid, const struct process_code *code)
{
    (void)pid, (void)code;
    return -1;
}

/* All that is watched here is a connection: its end says nothing of the process's. */
void process_read_end(pid_t pid, int watch, enum trace_end_how *how, uint32_t *code)
{
    (void)pid;
    (void)watch;
    *how = TRACE_END_HOW_UNKNOWN;
    *code = 0;
}

void process_read_needs(struct process_needs *needs)
{
    PROCESS_MEMORY_COUNTERS memory = {.cb = sizeof(memory)};
    DWORD handles = 0;

    *needs = (struct process_needs){0};
    if (K32GetProcessMemoryInfo(GetCurrentProcess(), &memory, sizeof(memory)))
        needs->resident_bytes = memory.WorkingSetSize;
    if (GetProcessHandleCount(GetCurrentProcess(), &handles))
        needs->descriptors = handles;
}

void process_raise_descriptor_limit(void)
{
    /* Handles are limited by memory alone. */
}
