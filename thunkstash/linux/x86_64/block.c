#include "thunkstash/pages.h"

#include <sys/mman.h>

#include "thunkstash/layout.h"
#include "thunkstash/linux/syscalls.h"

/* Thunks are the same in all blocks: pages of the agent's, mapped once more. */
bool pages_map_block(char *block, void *code)
{
    return !syscall_failed(
               SYSCALL5(mremap, code, 0, BLOCK_CODE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, block)) &&
           pages_commit(block + BLOCK_CODE_SIZE, BLOCK_CODE_SIZE);
}
