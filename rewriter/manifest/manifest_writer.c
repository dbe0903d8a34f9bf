#include "rewriter/manifest/manifest_writer.h"

#include <stdlib.h>
#include <string.h>

/* Imports, and the bytes of their names with the zeros. */
static size_t import_count(const struct function_list *functions, size_t *name_bytes)
{
    size_t count = 0;

    *name_bytes = 0;
    for (size_t i = 0; i < functions->count; i++) {
        if (!functions->items[i].is_import)
            continue;
        *name_bytes += strlen(functions->items[i].name) + 1;
        count++;
    }
    return count;
}

/* Puts those of a copy, from *stretch on, which is the next one's then. Returns how many there are;
   none is put where there is no room (null). */
static size_t put_stretches(const struct copy_set *copies, const struct copy *copy, size_t *stretch,
                            struct manifest_stretch *room)
{
    uint64_t at = copy->address;
    size_t count = 0;

    for (; *stretch < copies->stretch_count; ++*stretch) {
        const struct copy_stretch *next = &copies->stretches[*stretch];

        if (next->address >= copy->address + copy->size)
            break;
        for (; next->address - at > UINT16_MAX; at += UINT16_MAX, count++)
            if (room)
                room[count] = (struct manifest_stretch){UINT16_MAX, 0};
        if (room)
            room[count] =
                (struct manifest_stretch){(uint16_t)(next->address - at), (uint16_t)next->size};
        at = next->address + next->size;
        count++;
    }
    return count;
}

static size_t stretch_count(const struct copy_set *copies)
{
    size_t count = 0, stretch = 0;

    for (size_t i = 0; i < copies->count; i++)
        count += put_stretches(copies, &copies->items[i], &stretch, NULL);
    return count;
}

static size_t way_count(const struct copy_set *copies)
{
    return copies->counted ? copies->block_count : 0;
}

static size_t copies_size(const struct copy_set *copies)
{
    return copies ? copies->count * sizeof(struct manifest_copy) +
                        copies->site_count * sizeof(struct manifest_site) +
                        stretch_count(copies) * sizeof(struct manifest_stretch) +
                        copies->block_count * sizeof(struct manifest_block) +
                        way_count(copies) * sizeof(struct manifest_way)
                  : 0;
}

size_t manifest_size(const struct manifest_source *source)
{
    size_t name_bytes, imports = import_count(source->functions, &name_bytes);
    size_t size = sizeof(struct image_manifest) +
                  source->functions->count * sizeof(struct manifest_function) +
                  source->changes->count * sizeof(struct manifest_change) +
                  copies_size(source->copies) + imports * sizeof(struct manifest_import) +
                  name_bytes + strlen(source->original_path) + 1 + strlen(source->agent_path) + 1 +
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
        memcpy(entry.original, bytes,
               room < sizeof(entry.original) ? room : sizeof(entry.original));
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

static void put_copies(const struct manifest_source *source, struct image_manifest *head,
                       uint8_t *manifest, size_t *at)
{
    static const struct copy_set none = {0};
    const struct copy_set *copies = source->copies ? source->copies : &none;

    struct manifest_stretch *stretches;
    size_t stretch = 0;

    head->copies = (uint32_t)*at;
    head->copy_count = (uint32_t)copies->count;
    head->stretches = head->copies + head->copy_count * (uint32_t)sizeof(struct manifest_copy);
    stretches = (struct manifest_stretch *)(manifest + head->stretches);
    for (size_t i = 0; i < copies->count; i++) {
        const struct copy *copy = &copies->items[i];

        put(manifest, at,
            &(struct manifest_copy){(uint32_t)(copy->address - source->base), copy->size,
                                    copy->function, head->stretch_count, copy->returned},
            sizeof(struct manifest_copy));
        head->stretch_count +=
            (uint32_t)put_stretches(copies, copy, &stretch, stretches + head->stretch_count);
    }
    *at += head->stretch_count * sizeof(*stretches);
    head->sites = (uint32_t)*at;
    head->site_count = (uint32_t)copies->site_count;
    for (size_t i = 0; i < copies->site_count; i++)
        put(manifest, at,
            &(struct manifest_site){(uint32_t)(copies->sites[i].copy - source->base),
                                    (uint32_t)(copies->sites[i].original - source->base)},
            sizeof(struct manifest_site));
    head->blocks = (uint32_t)*at;
    head->block_count = (uint32_t)copies->block_count;
    for (size_t i = 0; i < copies->block_count; i++)
        put(manifest, at,
            &(struct manifest_block){(uint32_t)(copies->blocks[i].original - source->base),
                                     copies->blocks[i].size},
            sizeof(struct manifest_block));
    head->ways = (uint32_t)*at;
    head->way_count = (uint32_t)way_count(copies);
    for (size_t i = 0; i < head->way_count; i++)
        put(manifest, at,
            &(struct manifest_way){copies->blocks[i].from |
                                       (copies->blocks[i].counts ? MANIFEST_COUNTED : 0),
                                   copies->blocks[i].to},
            sizeof(struct manifest_way));
}

/* The table, then the names. */
static void put_imports(const struct function_list *functions, struct image_manifest *head,
                        uint8_t *manifest, size_t *at)
{
    size_t name_bytes, name;

    head->import_count = (uint32_t)import_count(functions, &name_bytes);
    head->imports = (uint32_t)*at;
    name = *at + head->import_count * sizeof(struct manifest_import);
    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];
        struct manifest_import import = {.function = (uint32_t)i};

        if (!function->is_import)
            continue;
        import.name = put(manifest, &name, function->name, strlen(function->name) + 1);
        put(manifest, at, &import, sizeof(import));
    }
    *at = name;
}

void manifest_write(const struct manifest_source *source, uint8_t *bytes)
{
    struct image_manifest head = {
        .magic = MANIFEST_MAGIC,
        .version = IMAGE_VERSION,
        .size = (uint32_t)manifest_size(source),
        .function_count = (uint32_t)source->functions->count,
        .functions = sizeof(head),
        .original_size = source->original_size,
        .original_hash = source->original_hash,
        .preferred_base = source->base,
        .build_id_size = (uint32_t)source->build_id_size,
        .change_count = (uint32_t)source->changes->count,
    };
    size_t at = sizeof(head);

    for (size_t i = 0; i < source->functions->count; i++) {
        struct manifest_function function = entry(source, &source->functions->items[i]);

        put(bytes, &at, &function, sizeof(function));
    }
    head.changes = put(bytes, &at, source->changes->items,
                       source->changes->count * sizeof(*source->changes->items));
    put_copies(source, &head, bytes, &at);
    put_imports(source->functions, &head, bytes, &at);
    head.original_path = put(bytes, &at, source->original_path, strlen(source->original_path) + 1);
    head.agent_path = put(bytes, &at, source->agent_path, strlen(source->agent_path) + 1);
    if (source->build_id_size)
        head.build_id = put(bytes, &at, source->build_id, source->build_id_size);
    memcpy(bytes, &head, sizeof(head));
}
