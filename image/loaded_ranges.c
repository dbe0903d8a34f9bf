#include "image/parts.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "image/pe_headers.h"
#include "support/memory.h"
#include "support/sorted.h"

#define PAGE 4096u

/* As far as it lies in the file. */
static void add(struct image_parts *parts, const struct bounded_file *file, struct image_part part)
{
    if (part.offset >= file->size)
        return;
    if (part.size > file->size - part.offset)
        part.size = file->size - part.offset;
    if (part.size)
        parts->items[parts->count++] = part;
}

static int compare_parts(const void *left, const void *right)
{
    const struct image_part *a = left, *b = right;

    return a->rva < b->rva ? -1 : a->rva > b->rva;
}

static void set_bounds(struct image_parts *parts, const Elf64_Phdr *segments, size_t count)
{
    bool is_first = true;

    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *segment = &segments[i];
        if (segment->p_type != PT_LOAD)
            continue;
        if (is_first || segment->p_vaddr < parts->base)
            parts->base = segment->p_vaddr / PAGE * PAGE;
        if (is_first || segment->p_vaddr + segment->p_memsz > parts->end)
            parts->end = segment->p_vaddr + segment->p_memsz;
        is_first = false;
    }
}

static bool read_segments(struct image_parts *parts, const struct bounded_file *file)
{
    Elf64_Ehdr header;
    Elf64_Phdr *segments;

    if (bounded_file_read(file, &header, sizeof(header), 0) < 0 ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof(*segments))
        return false;
    segments = bounded_file_copy(file, header.e_phoff, header.e_phnum * sizeof(*segments));
    if (!segments)
        return false;
    set_bounds(parts, segments, header.e_phnum);
    parts->items = memory_zeroed(header.e_phnum, sizeof(*parts->items));
    for (size_t i = 0; i < header.e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            add(parts, file,
                (struct image_part){
                    .rva = segments[i].p_vaddr - parts->base,
                    .offset = segments[i].p_offset,
                    .size = segments[i].p_filesz,
                    .is_writable = segments[i].p_flags & PF_W,
                    .is_executable = segments[i].p_flags & PF_X,
                });
    free(segments);
    return true;
}

static uint64_t end_of(const struct pe_section *section)
{
    uint32_t size = section->virtual_size ? section->virtual_size : section->raw_size;

    return (uint64_t)section->rva + size;
}

static bool read_sections(struct image_parts *parts, const struct bounded_file *file)
{
    struct pe_headers headers;
    struct pe_section *sections;
    const char *why;
    uint64_t end = 0, page;

    if (!pe_headers_read(&headers, file, &why) || !(sections = pe_sections_copy(&headers, file)))
        return false;
    parts->is_pe = true;
    parts->items = memory_zeroed(headers.file.section_count, sizeof(*parts->items));
    for (size_t i = 0; i < headers.file.section_count; i++) {
        const struct pe_section *section = &sections[i];
        if (section->raw)
            add(parts, file,
                (struct image_part){
                    .rva = section->rva,
                    .offset = section->raw,
                    .size = pe_section_bytes(section),
                    .is_writable = section->flags & PE_SECTION_WRITE,
                    .is_executable = section->flags & PE_SECTION_EXECUTE,
                });
        if (end_of(section) > end)
            end = end_of(section);
    }
    free(sections);
    page = headers.optional.section_alignment ? headers.optional.section_alignment : PAGE;
    parts->base = headers.optional.image_base;
    parts->end = parts->base + (end + page - 1) / page * page;
    return true;
}

bool image_parts_read(struct image_parts *parts, const struct bounded_file *file)
{
    char magic[2];

    *parts = (struct image_parts){0};
    if (bounded_file_read(file, magic, sizeof(magic), 0) < 0 ||
        !(memcmp(magic, "MZ", sizeof(magic)) ? read_segments : read_sections)(parts, file))
        return false;
    qsort(parts->items, parts->count, sizeof(*parts->items), compare_parts);
    return true;
}

void image_parts_free(struct image_parts *parts)
{
    free(parts->items);
    *parts = (struct image_parts){0};
}

const struct image_part *image_part_at(const struct image_parts *parts, uint64_t rva)
{
    size_t behind = partition_point(i, parts->count, parts->items[i].rva <= rva);
    const struct image_part *part = behind ? &parts->items[behind - 1] : NULL;

    return part && rva - part->rva < part->size ? part : NULL;
}

bool image_parts_find(const struct image_parts *parts, uint64_t rva, uint64_t size,
                      uint64_t *offset)
{
    const struct image_part *part = image_part_at(parts, rva);

    if (!part || size > part->size - (rva - part->rva))
        return false;
    *offset = part->offset + (rva - part->rva);
    return true;
}
