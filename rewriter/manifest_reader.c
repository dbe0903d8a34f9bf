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
           fits(head, head->imports, head->import_count, sizeof(struct manifest_import)) &&
           (!head->build_id || fits(head, head->build_id, head->build_id_size, 1));
}

static void *table_copy(const uint8_t *bytes, uint32_t offset, uint32_t count, size_t item)
{
    void *table = memory_zeroed(count, item);

    if (count)
        memcpy(table, bytes + offset, count * item);
    return table;
}

static bool imports_fit(const struct manifest *manifest)
{
    const struct image_manifest *head = &manifest->head;

    for (uint32_t i = 0; i < head->import_count; i++) {
        const struct manifest_import *import = &manifest->imports[i];

        if (import->function >= head->function_count || import->name >= head->size ||
            (i && import->function <= import[-1].function) ||
            !memchr(manifest->strings + import->name, 0, head->size - import->name))
            return false;
    }
    return true;
}

static bool items_fit(const struct manifest *manifest)
{
    for (uint32_t i = 0; i < manifest->head.function_count; i++)
        if (manifest->functions[i].patch_size > sizeof manifest->functions[i].original)
            return false;
    for (uint32_t i = 0; i < manifest->head.change_count; i++)
        if (manifest->changes[i].size == 0 || manifest->changes[i].size > MANIFEST_CHANGE_SIZE)
            return false;
    return imports_fit(manifest);
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
    manifest->imports =
        table_copy(bytes, head->imports, head->import_count, sizeof *manifest->imports);
    manifest->strings = table_copy(bytes, 0, head->size, 1);
    if (items_fit(manifest))
        return true;
    manifest_free(manifest);
    return false;
}

const char *manifest_import_name(const struct manifest *manifest, uint32_t function)
{
    uint32_t low = 0, high = manifest->head.import_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (manifest->imports[middle].function < function)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == manifest->head.import_count || manifest->imports[low].function != function)
        return NULL;
    return manifest->strings + manifest->imports[low].name;
}

const char *manifest_string(const struct manifest *manifest, uint32_t offset)
{
    uint32_t size = manifest->head.size;

    return offset < size && memchr(manifest->strings + offset, 0, size - offset)
               ? manifest->strings + offset
               : NULL;
}

void manifest_free(struct manifest *manifest)
{
    free(manifest->functions);
    free(manifest->changes);
    free(manifest->imports);
    free(manifest->strings);
    *manifest = (struct manifest){0};
}
