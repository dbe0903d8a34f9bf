/* The range is one reservation, of which blocks are committed. Windows is told nothing of thunks:
   exceptions find their handlers by the chain that begins at fs:[0], not by return addresses. */
#include "thunkstash/windows/range.h"

#include "support/windows/ntdll.h"
#include "thunkstash/i386/thunks.h"
#include "thunkstash/layout.h"
#include "thunkstash/pages.h"
#include "thunkstash/windows/call_system.h"
#include "thunkstash/windows/i386/dwarf.h"

char *range_reserve(void)
{
    char *range = VirtualAlloc(NULL, STASH_RANGE_SIZE, MEM_RESERVE | MEM_TOP_DOWN, PAGE_NOACCESS);

    if (range)
        dwarf_tell(range);
    return range;
}

bool pages_map_block(char *block, void *code)
{
    void *at = block;
    SIZE_T size = BLOCK_CODE_SIZE;
    ULONG before;

    (void)code;
    if (!pages_commit(block, BLOCK_SIZE))
        return false;
    thunks_write(block);
    return NT_SUCCESS(
        CALL_SYSTEM(NtProtectVirtualMemory(THIS_PROCESS, &at, &size, PAGE_EXECUTE_READ, &before)));
}

/* Each block's code is its own: thunks_write. */
void *range_open_code(const char *image)
{
    return (void *)image;
}
