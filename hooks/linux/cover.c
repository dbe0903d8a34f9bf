#include "hooks/cover.h"

#include "hooks/memory.h"
#include "hooks/session.h"
#include "thunkstash/linux/linux_pages.h"

/* False: the page stays as it is. */
static bool share(char *page, struct trace_block *block)
{
    char *shared;

    memcpy(block + 1, page + TRACE_UNIT, TRACE_COVER_BYTES);
    shared = pages_map_again(block, TRACE_BLOCK_SIZE);
    if (!shared)
        return false;
    pages_keep_for_children(shared, TRACE_BLOCK_SIZE);
    return pages_replace(page, shared, TRACE_BLOCK_SIZE);
}

void cover_bind(const struct image_header *image)
{
    char *hook_page = (char *)image - image->header_rva + image->hook_rva - IMAGE_HOOK_IN_PAGE;
    uint32_t pages = image_cover_pages(image->block_count);

    for (uint32_t i = 0; i < pages; i++) {
        struct trace_block *block = session_block(0);

        if (!block)
            return;
        block->function = image->first_function;
        block->page = i;
        block->used = TRACE_BLOCK_UNITS;
        if (share(hook_page + IMAGE_HOOK_PAGE + (uint64_t)i * TRACE_BLOCK_SIZE, block))
            block_commit(block, TRACE_BLOCK_COVER);
    }
}
