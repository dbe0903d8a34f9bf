#include "rewriter/patch/change_list.h"

#include <string.h>

#include "support/memory.h"

bool change_list_add(struct change_list *list, uint64_t file_offset, const uint8_t *original,
                     size_t size)
{
    if (file_offset > UINT32_MAX || size > UINT32_MAX - file_offset)
        return false;
    while (size) {
        size_t part = size < MANIFEST_CHANGE_SIZE ? size : MANIFEST_CHANGE_SIZE;
        struct manifest_change change = {.file_offset = (uint32_t)file_offset,
                                         .size = (uint8_t)part};

        memcpy(change.original, original, part);
        list->items = memory_grow(list->items, list->count, &list->room, sizeof(change));
        list->items[list->count++] = change;
        file_offset += part;
        original += part;
        size -= part;
    }
    return true;
}
