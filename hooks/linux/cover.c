#include "hooks/cover.h"

#include "hooks/memory.h"
#include "hooks/session.h"
#include "thunkstash/linux/linux_pages.h"

#define MOST_PAGES 16384 /* of all images that are remembered: 66 million blocks */

/* Pages of images that blocks of the trace lie over. An image may be gone, and another in its
   place: what is there is looked at first. */
static struct bound {
    uint64_t address;
    uint32_t function, page, block_hash;
} * bound;
static uint32_t bound_count;

static void remember(uint64_t address, const struct trace_block *block)
{
    if (!bound)
        bound = pages_take(MOST_PAGES * sizeof(*bound));
    if (bound && bound_count < MOST_PAGES)
        bound[bound_count++] =
            (struct bound){address, block->function, block->page, block->block_hash};
}

static bool is_bound(const struct bound *page)
{
    const struct trace_block *block = (const struct trace_block *)page->address;
    uint64_t kind, function_and_page;

    return pages_read((uint64_t)&block->kind, &kind) &&
           pages_read((uint64_t)&block->function, &function_and_page) &&
           (uint32_t)kind == TRACE_BLOCK_COVER && (uint32_t)function_and_page == page->function &&
           function_and_page >> 32 == page->page;
}

/* False: the page stays as it is. */
static bool share(uint64_t page, struct trace_block *block)
{
    char *shared = pages_map_again(block, TRACE_BLOCK_SIZE);

    if (!shared)
        return false;
    pages_keep_for_children(shared, TRACE_BLOCK_SIZE);
    return pages_replace((void *)page, shared, TRACE_BLOCK_SIZE);
}

void cover_bind(const struct image_header *image)
{
    uint64_t first = (uint64_t)image - image->header_rva + image->hook_rva - IMAGE_HOOK_IN_PAGE +
                     IMAGE_HOOK_PAGE;
    uint32_t pages = image_cover_pages(image->cover_size);

    for (uint32_t i = 0; i < pages; i++) {
        uint64_t page = first + (uint64_t)i * TRACE_BLOCK_SIZE;
        struct trace_block *block = session_cover_block();

        if (!block)
            return;
        block->function = image->first_function;
        block->page = i;
        block->block_hash = image->block_hash;
        memcpy(block + 1, (char *)page + TRACE_UNIT, TRACE_COVER_BYTES);
        block_commit(block, TRACE_BLOCK_COVER);
        if (share(page, block))
            remember(page, block);
    }
}

void cover_begin_in_child(void)
{
    for (uint32_t i = 0; i < bound_count; i++) {
        struct trace_block *block = is_bound(&bound[i]) ? session_cover_block() : NULL;

        if (!block)
            continue;
        block->function = bound[i].function;
        block->page = bound[i].page;
        block->block_hash = bound[i].block_hash;
        block_commit(block, TRACE_BLOCK_COVER);
        share(bound[i].address, block);
    }
}
