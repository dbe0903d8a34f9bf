#include "grinder/manifest.h"

#include <stdlib.h>
#include <string.h>

static int is_well_formed(const struct image_manifest *bytes)
{
    uint64_t functions_size = (uint64_t)bytes->function_count * sizeof(struct manifest_function);

    uint64_t imports_size = (uint64_t)bytes->import_count * sizeof(struct manifest_import);

    if (imports_size &&
        (bytes->imports < sizeof(*bytes) || bytes->imports % 4 != 0 ||
         bytes->imports > bytes->size || imports_size > bytes->size - bytes->imports))
        return 0;
    return bytes->functions >= sizeof(*bytes) && bytes->functions % 8 == 0 &&
           bytes->functions <= bytes->size && functions_size <= bytes->size - bytes->functions;
}

int manifest_load(struct manifest *manifest, const struct image_file *image, const char **why)
{
    struct image_manifest *bytes = image_file_manifest(image);

    *manifest = (struct manifest){0};
    *why = "has no instrumentation manifest";
    if (!bytes || bytes->magic != MANIFEST_MAGIC)
        goto err;
    *why = "was instrumented by another version";
    if (bytes->version != IMAGE_VERSION)
        goto err;
    *why = "has a malformed instrumentation manifest";
    if (!is_well_formed(bytes))
        goto err;
    manifest->bytes = bytes;
    manifest->functions =
        (const struct manifest_function *)((const char *)bytes + bytes->functions);
    manifest->function_count = bytes->function_count;
    manifest->imports = (const struct manifest_import *)((const char *)bytes + bytes->imports);
    manifest->import_count = bytes->import_count;
    for (uint32_t i = 0; i < manifest->function_count; i++)
        manifest->hooked += manifest->functions[i].state == FUNCTION_HOOKED;
    return 0;

err:
    free(bytes);
    return -1;
}

static int compare_imports(const void *key, const void *item)
{
    uint32_t function = *(const uint32_t *)key,
             other = ((const struct manifest_import *)item)->function;

    return function < other ? -1 : function > other;
}

/* The zero-terminated text at that offset; null if there is none. */
static const char *text_at(const struct manifest *manifest, uint32_t offset)
{
    const char *bytes = (const char *)manifest->bytes;

    if (offset >= manifest->bytes->size ||
        !memchr(bytes + offset, 0, manifest->bytes->size - offset))
        return NULL;
    return bytes + offset;
}

const char *manifest_import_name(const struct manifest *manifest, uint32_t function)
{
    const struct manifest_import *import = NULL;

    if (manifest->import_count)
        import = bsearch(&function, manifest->imports, manifest->import_count, sizeof(*import),
                         compare_imports);
    return import ? text_at(manifest, import->name) : NULL;
}

const char *manifest_original_path(const struct manifest *manifest)
{
    const char *path = text_at(manifest, manifest->bytes->original_path);

    return path && *path && manifest->bytes->original_path ? path : NULL;
}

void manifest_free(struct manifest *manifest)
{
    free(manifest->bytes);
    *manifest = (struct manifest){0};
}
