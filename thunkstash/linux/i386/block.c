#include "thunkstash/pages.h"

#include <sys/mman.h>

#include "thunkstash/i386/thunks.h"
#include "thunkstash/layout.h"
#include "thunkstash/linux/syscalls.h"

bool pages_map_block(char *block, void *code)
{
    (void)code;
    if (!pages_commit(block, BLOCK_SIZE))
        return false;
    thunks_write(block);
    return !syscall_failed(SYSCALL3(mprotect, block, BLOCK_CODE_SIZE, PROT_READ | PROT_EXEC));
}
