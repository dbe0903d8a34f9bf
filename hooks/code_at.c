#include "hooks/code_at.h"

#include "hooks/modules.h"
#include "support/sorted.h"

static const struct manifest_copy *copies_of(const struct image_manifest *manifest)
{
    return (const struct manifest_copy *)((const char *)manifest + manifest->copies);
}

static const struct manifest_copy *copy_at(const struct image_manifest *manifest, uint32_t rva)
{
    const struct manifest_copy *copies = copies_of(manifest);
    size_t behind = partition_point(i, manifest->copy_count, copies[i].rva <= rva);

    return behind && rva - copies[behind - 1].rva < copies[behind - 1].size ? &copies[behind - 1]
                                                                            : NULL;
}

static bool is_counting_in(const struct image_manifest *manifest, const struct manifest_copy *copy,
                           uint32_t rva)
{
    const struct manifest_stretch *stretches =
        (const struct manifest_stretch *)((const char *)manifest + manifest->stretches);
    uint32_t last = (uint32_t)(copy - copies_of(manifest)) + 1 < manifest->copy_count
                        ? copy[1].counted
                        : manifest->stretch_count;
    uint32_t at = copy->rva;

    for (uint32_t i = copy->counted; i < last && at <= rva; i++) {
        at += stretches[i].gap;
        if (rva >= at && rva - at < stretches[i].size)
            return true;
        at += stretches[i].size;
    }
    return false;
}

/* What stands behind all copies are the slow paths of what counts. */
static bool is_behind_copies(const struct image_manifest *manifest, uint32_t rva)
{
    const struct manifest_copy *last = copies_of(manifest) + manifest->copy_count - 1;

    return manifest->copy_count && rva >= last->rva + last->size;
}

bool code_is_counting(uint64_t address)
{
    const struct image_header *image = module_image(address);
    const struct image_manifest *manifest;
    const struct manifest_copy *copy;
    uint32_t rva;

    if (!image)
        return false;
    rva = (uint32_t)(address - ((uintptr_t)image - image->header_rva));
    manifest = module_manifest(image);
    if (!image->added_rva || rva < image->added_rva)
        return false;
    copy = copy_at(manifest, rva);
    return copy ? is_counting_in(manifest, copy, rva) : is_behind_copies(manifest, rva);
}

/* The place of the function whose original has the address; of a hole between two, the one before.
   UINT32_MAX: none. */
static uint32_t function_at(const struct image_manifest *manifest, uint32_t rva)
{
    const struct manifest_function *functions = module_functions(manifest);
    size_t behind = partition_point(i, manifest->function_count, functions[i].rva <= rva);

    return behind ? (uint32_t)behind - 1 : UINT32_MAX;
}

/* The place of the function whose stub has the address: they stand in the order of their functions,
   some of which have none. UINT32_MAX: none. */
static uint32_t function_of_stub(const struct image_manifest *manifest, uint32_t rva)
{
    const struct manifest_function *functions = module_functions(manifest);
    uint32_t low = 0, high = manifest->function_count, found = UINT32_MAX;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2, at = middle;

        while (at < high && !functions[at].stub_rva)
            at++;
        if (at < high && functions[at].stub_rva <= rva) {
            found = at;
            low = at + 1;
        } else {
            high = middle;
        }
    }
    return found;
}

bool code_is_entry(const struct image_header *image, uint64_t address)
{
    const struct image_manifest *manifest = module_manifest(image);
    uint32_t rva = (uint32_t)(address - ((uintptr_t)image - image->header_rva));
    uint32_t place = function_at(manifest, rva);
    const struct manifest_function *function = &module_functions(manifest)[place];

    return place != UINT32_MAX && function->rva == rva && function->stub_rva;
}

struct code_at code_at(uint64_t address)
{
    const struct image_header *image = module_image(address);
    struct code_at found = {0};
    const struct image_manifest *manifest;
    const struct manifest_copy *copy;
    uint32_t rva, place;

    if (!image)
        return found;
    rva = (uint32_t)(address - ((uintptr_t)image - image->header_rva));
    manifest = module_manifest(image);
    found.is_added = image->added_rva && rva >= image->added_rva;
    copy = found.is_added ? copy_at(manifest, rva) : NULL;
    found.is_copy = copy != NULL;
    place = copy             ? copy->function
            : found.is_added ? function_of_stub(manifest, rva)
                             : function_at(manifest, rva);
    if (place != UINT32_MAX)
        found.function = image->first_function + place;
    return found;
}
