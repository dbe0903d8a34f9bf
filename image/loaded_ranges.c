#include "image/loaded_ranges.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "image/elf_wide.h"
#include "image/pe_headers.h"
#include "support/memory.h"
#include "support/sorted.h"

#define PAGE 4096u

/* Adds a range as far as it lies in the file. */
static void add(struct loaded_ranges *ranges, const struct bounded_file *file,
                struct loaded_range range)
{
    if (range.offset >= file->size)
        return;
    if (range.size > file->size - range.offset)
        range.size = file->size - range.offset;
    if (range.size)
        ranges->items[ranges->count++] = range;
}

static int compare_parts(const void *left, const void *right)
{
    const struct loaded_range *a = left, *b = right;

    return a->rva < b->rva ? -1 : a->rva > b->rva;
}

static void set_bounds(struct loaded_ranges *ranges, const Elf64_Phdr *segments, size_t count)
{
    bool is_first = true;

    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *segment = &segments[i];
        if (segment->p_type != PT_LOAD)
            continue;
        if (is_first || segment->p_vaddr < ranges->base)
            ranges->base = segment->p_vaddr / PAGE * PAGE;
        if (is_first || segment->p_vaddr + segment->p_memsz > ranges->end)
            ranges->end = segment->p_vaddr + segment->p_memsz;
        is_first = false;
    }
}

static bool read_segments(struct loaded_ranges *ranges, const struct bounded_file *file)
{
    Elf64_Ehdr header;
    Elf64_Phdr *segments;

    if (!elf_header_read(&header, file) || !(segments = elf_segments_copy(&header, file)))
        return false;
    ranges->machine = header.e_machine;
    set_bounds(ranges, segments, header.e_phnum);
    ranges->items = memory_zeroed(header.e_phnum, sizeof(*ranges->items));
    for (size_t i = 0; i < header.e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            add(ranges, file,
                (struct loaded_range){
                    .rva = segments[i].p_vaddr - ranges->base,
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

static bool read_sections(struct loaded_ranges *ranges, const struct bounded_file *file)
{
    struct pe_headers headers;
    struct pe_section *sections;
    struct failure failure;
    uint64_t end = 0, page;

    if (!pe_headers_read(&headers, file, &failure) ||
        !(sections = pe_sections_copy(&headers, file)))
        return false;
    ranges->is_pe = true;
    ranges->machine = headers.file.machine == PE_MACHINE_I386 ? EM_386 : EM_X86_64;
    ranges->items = memory_zeroed(headers.file.section_count, sizeof(*ranges->items));
    for (size_t i = 0; i < headers.file.section_count; i++) {
        const struct pe_section *section = &sections[i];
        if (section->raw)
            add(ranges, file,
                (struct loaded_range){
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
    ranges->base = headers.optional.image_base;
    ranges->end = ranges->base + (end + page - 1) / page * page;
    return true;
}

bool loaded_ranges_read(struct loaded_ranges *ranges, const struct bounded_file *file)
{
    char magic[2];

    *ranges = (struct loaded_ranges){0};
    if (bounded_file_read(file, magic, sizeof(magic), 0) < 0 ||
        !(memcmp(magic, "MZ", sizeof(magic)) ? read_segments : read_sections)(ranges, file))
        return false;
    qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare_parts);
    return true;
}

void loaded_ranges_free(struct loaded_ranges *ranges)
{
    free(ranges->items);
    *ranges = (struct loaded_ranges){0};
}

const struct loaded_range *loaded_range_at(const struct loaded_ranges *ranges, uint64_t rva)
{
    size_t behind = partition_point(i, ranges->count, ranges->items[i].rva <= rva);
    const struct loaded_range *range = behind ? &ranges->items[behind - 1] : NULL;

    return range && rva - range->rva < range->size ? range : NULL;
}

bool loaded_ranges_find(const struct loaded_ranges *ranges, uint64_t rva, uint64_t size,
                        uint64_t *offset)
{
    const struct loaded_range *range = loaded_range_at(ranges, rva);

    if (!range || size > range->size - (rva - range->rva))
        return false;
    *offset = range->offset + (rva - range->rva);
    return true;
}
