/* Where an ELF image holds its manifest. */
#include <stdlib.h>
#include <string.h>

#include "grinder/elf_file.h"
#include "trace/image_manifest.h"

#define MANIFEST_SECTION ".umbra.manifest"

/* Segments are searched for the manifest only so far in all: they may all be the same bytes. */
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

static struct image_manifest *search_segment(const struct elf_file *elf, const Elf64_Phdr *segment,
                                             uint64_t *left)
{
    uint64_t size = segment->p_filesz < *left ? segment->p_filesz : *left;
    char *bytes = elf_read(elf, segment->p_offset, size);
    struct image_manifest *found = NULL;
    const uint64_t magic = MANIFEST_MAGIC;

    for (uint64_t at = 0; bytes && !found && at + sizeof(magic) <= size; at += sizeof(magic))
        if (!memcmp(bytes + at, &magic, sizeof(magic)))
            found = read_at_magic(elf, segment->p_offset + at);
    free(bytes);
    *left -= size;
    return found;
}

/* Section headers may have been stripped: the manifest is in a read-only segment, the last one
   more likely than the first. */
static struct image_manifest *search_segments(const struct elf_file *elf)
{
    uint64_t count = elf->header.e_phnum, left = SEARCH_SIZE;
    struct image_manifest *found = NULL;
    Elf64_Phdr *segments;

    if (elf->header.e_phentsize != sizeof(*segments))
        return NULL;
    segments = elf_read(elf, elf->header.e_phoff, count * sizeof(*segments));
    for (uint64_t i = count; segments && !found && i > 0; i--)
        if (segments[i - 1].p_type == PT_LOAD && segments[i - 1].p_flags == PF_R)
            found = search_segment(elf, &segments[i - 1], &left);
    free(segments);
    return found;
}

struct image_manifest *elf_manifest_read(const struct elf_file *elf)
{
    const Elf64_Shdr *section = elf_section_named(elf, MANIFEST_SECTION);

    if (section)
        return read_at_magic(elf, section->sh_offset);
    return search_segments(elf);
}
