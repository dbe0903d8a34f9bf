#include "rewriter/manifest_reader.h"

#include "rewriter/memory.h"

#include <stdlib.h>
#include <string.h>

/* Whether a table of `count` items begins at an offset behind the head and fits the manifest. */
static bool fits(const struct image_manifest *head, uint32_t offset, uint32_t count, size_t item)
{
    return offset >= sizeof *head && offset <= head->size && count <= (head->size - offset) / item;
}

static bool head_read(struct image_manifest *head, const uint8_t *bytes, size_t size)
{
    if (size < sizeof *head)
        return false;
    memcpy(head, bytes, sizeof *head);
    return head->magic == MANIFEST_MAGIC && head->version == IMAGE_VERSION && head->size <= size &&
           head->size >= sizeof *head &&
           fits(head, head->functions, head->function_count, sizeof(struct manifest_function)) &&
           fits(head, head->changes, head->change_count, sizeof(struct manifest_change)) &&
           (!head->build_id || fits(head, head->build_id, head->build_id_size, 1));
}

static void *table_copy(const uint8_t *bytes, uint32_t offset, uint32_t count, size_t item)
{
    void *table = memory_zeroed(count, item);

    if (count)
        memcpy(table, bytes + offset, count * item);
    return table;
}

static bool items_fit(const struct manifest *manifest)
{
    for (uint32_t i = 0; i < manifest->head.function_count; i++)
        if (manifest->functions[i].patch_size > sizeof manifest->functions[i].original)
            return false;
    for (uint32_t i = 0; i < manifest->head.change_count; i++)
        if (manifest->changes[i].size == 0 || manifest->changes[i].size > MANIFEST_CHANGE_SIZE)
            return false;
    return true;
}

bool manifest_read(struct manifest *manifest, const uint8_t *bytes, size_t size)
{
    const struct image_manifest *head = &manifest->head;

    *manifest = (struct manifest){0};
    if (!head_read(&manifest->head, bytes, size))
        return false;
    manifest->functions =
        table_copy(bytes, head->functions, head->function_count, sizeof *manifest->functions);
    manifest->changes =
        table_copy(bytes, head->changes, head->change_count, sizeof *manifest->changes);
    if (items_fit(manifest))
        return true;
    manifest_free(manifest);
    return false;
}

void manifest_free(struct manifest *manifest)
{
    free(manifest->functions);
    free(manifest->changes);
    *manifest = (struct manifest){0};
}
