#include "thunkstash/pages.h"

#include "support/windows/ntdll.h"
#include "thunkstash/windows/call_system.h"

static void *allocate(void *at, SIZE_T size, ULONG kind, ULONG protection)
{
    NTSTATUS status =
        CALL_SYSTEM(NtAllocateVirtualMemory(THIS_PROCESS, &at, 0, &size, kind, protection));

    return NT_SUCCESS(status) ? at : NULL;
}

static void release(void *at)
{
    SIZE_T all = 0;

    CALL_SYSTEM(NtFreeVirtualMemory(THIS_PROCESS, &at, &all, MEM_RELEASE));
}

void *pages_take(uint64_t size)
{
    return allocate(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void pages_give_back(void *pages, uint64_t size)
{
    (void)size;
    release(pages);
}

void *pages_reserve(uint64_t size)
{
    return allocate(NULL, size, MEM_RESERVE, PAGE_READWRITE);
}

bool pages_commit(void *pages, uint64_t size)
{
    return allocate(pages, size, MEM_COMMIT, PAGE_READWRITE);
}

/* There is no fork. */
bool pages_wipe_on_fork(void *pages, uint64_t size)
{
    (void)pages, (void)size;
    return true;
}

void *pages_take_wiped_on_fork(uint64_t size)
{
    return pages_take(size);
}

bool pages_read(uint64_t address, uint64_t *value)
{
    uintptr_t word;
    SIZE_T got = 0;
    NTSTATUS status = CALL_SYSTEM(NtReadVirtualMemory(
        THIS_PROCESS, (const void *)(uintptr_t)address, &word, sizeof(word), &got));

    if (!NT_SUCCESS(status) || got != sizeof(word))
        return false;
    *value = word;
    return true;
}

bool pages_read_own(uint64_t address, uint64_t *value)
{
    return pages_read(address, value);
}
