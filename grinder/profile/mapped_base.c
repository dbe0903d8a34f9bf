#include "grinder/profile/mapped_base.h"

bool mapped_base(const struct loaded_ranges *ranges, const struct stacks_mapping *mapping,
                 uint64_t *base)
{
    for (size_t i = 0; i < ranges->count; i++) {
        const struct loaded_range *range = &ranges->items[i];
        uint64_t in_file = mapping->offset - range->offset;

        if (!range->is_executable)
            continue;
        /* pages, of which the first may begin before what is loaded */
        if (mapping->offset <= range->offset && range->offset - mapping->offset < mapping->length)
            in_file = 0 - (range->offset - mapping->offset);
        else if (in_file >= range->size)
            continue;
        *base = mapping->address - (range->rva + in_file);
        return true;
    }
    return false;
}
