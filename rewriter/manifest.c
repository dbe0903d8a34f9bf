#include "rewriter/manifest.h"

#include <stdlib.h>
#include <string.h>

size_t manifest_size(const struct manifest_source *source)
{
    size_t size = sizeof(struct image_manifest) +
                  source->functions->count * sizeof(struct manifest_function) +
                  source->changes->count * sizeof(struct manifest_change) +
                  strlen(source->original_path) + 1 + strlen(source->agent_path) + 1 +
                  source->build_id_size;

    return (size + 7) & ~(size_t)7;
}

static struct manifest_function entry(const struct manifest_source *source,
                                      const struct function *function)
{
    struct manifest_function entry = {
        .rva = (uint32_t)(function->address - source->base),
        .size = (uint32_t)(function->end - function->address),
        .reason = function->reason,
    };
    size_t room;
    const uint8_t *bytes;

    if (!patch_reason_is_hooked(function->reason))
        return entry;
    entry.state = FUNCTION_HOOKED;
    entry.stub_rva = (uint32_t)(source->stubs - source->base + function->stub);
    entry.patch_offset = function->patch_offset;
    entry.patch_size = function->patch_size;
    bytes = code_at(source->code, function->address + function->patch_offset, &room);
    if (bytes)
        memcpy(entry.original, bytes, room < sizeof entry.original ? room : sizeof entry.original);
    return entry;
}

static uint32_t put(uint8_t *manifest, size_t *at, const void *bytes, size_t size)
{
    uint32_t offset = (uint32_t)*at;

    if (size)
        memcpy(manifest + *at, bytes, size);
    *at += size;
    return offset;
}

void manifest_write(const struct manifest_source *source, uint8_t *bytes)
{
    struct image_manifest head = {
        .magic = MANIFEST_MAGIC,
        .version = IMAGE_VERSION,
        .size = (uint32_t)manifest_size(source),
        .function_count = (uint32_t)source->functions->count,
        .functions = sizeof head,
        .original_size = source->original_size,
        .original_hash = source->original_hash,
        .preferred_base = source->base,
        .build_id_size = (uint32_t)source->build_id_size,
        .change_count = (uint32_t)source->changes->count,
    };
    size_t at = sizeof head;

    for (size_t i = 0; i < source->functions->count; i++) {
        struct manifest_function function = entry(source, &source->functions->items[i]);

        put(bytes, &at, &function, sizeof function);
    }
    head.changes = put(bytes, &at, source->changes->items,
                       source->changes->count * sizeof *source->changes->items);
    head.original_path = put(bytes, &at, source->original_path, strlen(source->original_path) + 1);
    head.agent_path = put(bytes, &at, source->agent_path, strlen(source->agent_path) + 1);
    if (source->build_id_size)
        head.build_id = put(bytes, &at, source->build_id, source->build_id_size);
    memcpy(bytes, &head, sizeof head);
}
