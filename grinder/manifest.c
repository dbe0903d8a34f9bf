#include "grinder/manifest.h"

#include <stdlib.h>
#include <string.h>

#define MANIFEST_SECTION ".umbra.manifest"

/* A segment is searched for the manifest only up to here: it is a table of functions. */
#define SEARCH_SIZE (256u << 20)

/* Copies out the manifest at the offset where its magic number was found. */
static struct image_manifest *read_at_magic(const struct elf_file *elf, uint64_t offset)
{
    struct image_manifest *head = elf_read(elf, offset, sizeof(*head));
    struct image_manifest *whole = NULL;

    if (head && head->size >= sizeof(*head))
        whole = elf_read(elf, offset, head->size);
    free(head);
    return whole;
}

static struct image_manifest *search_segment(const struct elf_file *elf, const Elf64_Phdr *segment)
{
    uint64_t size = segment->p_filesz < SEARCH_SIZE ? segment->p_filesz : SEARCH_SIZE;
    char *bytes = elf_read(elf, segment->p_offset, size);
    struct image_manifest *found = NULL;
    const uint64_t magic = MANIFEST_MAGIC;

    for (uint64_t at = 0; bytes && !found && at + sizeof(magic) <= size; at += sizeof(magic))
        if (!memcmp(bytes + at, &magic, sizeof(magic)))
            found = read_at_magic(elf, segment->p_offset + at);
    free(bytes);
    return found;
}

/* Section headers may have been stripped: the manifest is in a read-only segment, the last one
   more likely than the first. */
static struct image_manifest *search_segments(const struct elf_file *elf)
{
    uint64_t count = elf->header.e_phnum;
    struct image_manifest *found = NULL;
    Elf64_Phdr *segments;

    if (elf->header.e_phentsize != sizeof(*segments))
        return NULL;
    segments = elf_read(elf, elf->header.e_phoff, count * sizeof(*segments));
    for (uint64_t i = count; segments && !found && i > 0; i--)
        if (segments[i - 1].p_type == PT_LOAD && segments[i - 1].p_flags == PF_R)
            found = search_segment(elf, &segments[i - 1]);
    free(segments);
    return found;
}

static struct image_manifest *find(const struct elf_file *elf)
{
    const Elf64_Shdr *section = elf_section_named(elf, MANIFEST_SECTION);

    if (section)
        return read_at_magic(elf, section->sh_offset);
    return search_segments(elf);
}

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

int manifest_load(struct manifest *manifest, const struct elf_file *elf, const char **why)
{
    struct image_manifest *bytes = find(elf);

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

const char *manifest_import_name(const struct manifest *manifest, uint32_t function)
{
    const struct manifest_import *import = NULL;
    const char *bytes = (const char *)manifest->bytes;

    if (manifest->import_count)
        import = bsearch(&function, manifest->imports, manifest->import_count, sizeof(*import),
                         compare_imports);
    if (!import || import->name >= manifest->bytes->size ||
        !memchr(bytes + import->name, 0, manifest->bytes->size - import->name))
        return NULL;
    return bytes + import->name;
}

void manifest_free(struct manifest *manifest)
{
    free(manifest->bytes);
    *manifest = (struct manifest){0};
}
