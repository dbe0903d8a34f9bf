#include "grinder/profile/location.h"

#include <stdio.h>

/* Code of a PE file is elsewhere in the original: `instrument` may have made the headers longer. */
static uint64_t offset_of(const struct image *image, uint64_t address)
{
    const struct loaded_ranges *ranges = &image->ranges;
    const struct loaded_range *range = loaded_range_at(ranges, address - ranges->base);

    if (ranges->is_pe || !range || !range->is_executable)
        return 0;
    return address - ranges->base - range->rva + range->offset;
}

static struct location locate(const struct images *images, uint32_t image, uint64_t rva)
{
    struct location location = {0};

    if (!image)
        return location;
    location.module = &images->images[image];
    if (location.module->problem)
        return location;
    location.address = location.module->manifest.head->preferred_base + rva;
    location.offset = offset_of(location.module, location.address);
    return location;
}

struct location location_of_function(const struct images *images, uint32_t function)
{
    const struct function *known = &images->functions[function];
    struct location location = locate(images, known->image, known->rva);

    if (location.address && known->index < location.module->manifest.function_count)
        location.size = location.module->manifest.functions[known->index].size;
    else
        location.address = location.offset = 0;
    return location;
}

struct location location_of_return(const struct images *images, uint64_t site)
{
    return locate(images, (uint32_t)(site >> 32), (site & UINT32_MAX) + 1);
}

void location_build_id(char text[BUILD_ID_TEXT], const struct image *module)
{
    uint32_t size = module->build_id_size;

    if (size > sizeof(module->build_id))
        size = sizeof(module->build_id);
    text[0] = 0;
    for (uint32_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", module->build_id[i]);
}
