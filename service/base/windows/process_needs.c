#include "service/base/process.h"

#include <windows.h>
#include <psapi.h>

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
