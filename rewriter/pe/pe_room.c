#include "rewriter/pe/pe_room.h"

#include <stdlib.h>
#include <string.h>

#include "image/original.h"
#include "image/pe_wide.h"
#include "support/memory.h"

static uint32_t align_up(uint64_t number, uint32_t alignment)
{
    return (uint32_t)((number + alignment - 1) / alignment * alignment);
}

static size_t table_end(const struct pe_image *image, size_t more)
{
    return image->section_table + (image->section_count + more) * sizeof(struct pe_section);
}

static uint32_t first_raw(const struct pe_image *image)
{
    uint32_t first = UINT32_MAX;

    for (size_t i = 0; i < image->section_count; i++)
        if (image->sections[i].raw_size && image->sections[i].raw < first)
            first = image->sections[i].raw;
    return first;
}

/* Behind the sections' headers there may be the bound imports, which are dropped; else zeros. */
static bool is_free(const struct pe_image *image, size_t end)
{
    const struct pe_directory *bound = &image->directory[PE_BOUND_IMPORTS];
    size_t limit = end < image->header.size_of_headers ? end : image->header.size_of_headers;

    for (size_t at = table_end(image, 0); at < limit; at++)
        if (image->bytes[at] && at - bound->rva >= bound->size)
            return false;
    return true;
}

static bool note(struct change_list *changes, const struct pe_image *image, size_t offset,
                 uint64_t growth, size_t size)
{
    return change_list_add(changes, offset + growth, image->bytes + offset, size);
}

/* The debug directory's entries hold file offsets, and one leads to the CET-compatible bit. */
static bool note_debug(struct change_list *changes, const struct pe_image *image, uint64_t growth)
{
    struct pe_table table = pe_directory_table(image, PE_DEBUG, sizeof(struct pe_debug));
    const uint8_t *word = pe_shadow_stack_word(image);

    if (growth && table.count &&
        !note(changes, image, (size_t)(table.bytes - image->bytes), growth,
              table.count * sizeof(struct pe_debug)))
        return false;
    return !word || note(changes, image, (size_t)(word - image->bytes), growth, 4);
}

static void move_raw(uint32_t *offset, uint32_t growth)
{
    if (*offset)
        *offset += growth;
}

/* Sets what says where something lies in the file. */
static void move_pointers(const struct pe_image *image, uint8_t *bytes, uint32_t growth)
{
    struct pe_table table = pe_directory_table(image, PE_DEBUG, sizeof(struct pe_debug));
    struct pe_file_header file = image->file;
    struct pe_optional_header header = image->header;

    header.size_of_headers += growth;
    move_raw(&file.symbols, growth);
    memcpy(bytes + image->nt + 4, &file, sizeof(file));
    pe_optional_write(bytes + image->optional, &header);
    for (size_t i = 0; i < image->section_count; i++) {
        struct pe_section section = image->sections[i];

        move_raw(&section.raw, growth);
        move_raw(&section.relocations, growth);
        move_raw(&section.line_numbers, growth);
        memcpy(bytes + image->section_table + i * sizeof(section), &section, sizeof(section));
    }
    for (size_t i = 0; i < table.count; i++) {
        uint8_t *at = bytes + (table.bytes - image->bytes) + growth + i * sizeof(struct pe_debug);
        struct pe_debug entry;

        memcpy(&entry, at, sizeof(entry));
        move_raw(&entry.raw, growth);
        memcpy(at, &entry, sizeof(entry));
    }
}

static bool grow(struct pe_room *room, struct pe_image *image, uint32_t growth,
                 struct failure *failure)
{
    size_t headers = image->header.size_of_headers, size = image->size + growth;

    room->bytes = memory_zeroed(size, 1);
    memcpy(room->bytes, image->bytes, headers);
    memcpy(room->bytes + headers + growth, image->bytes + headers, image->size - headers);
    move_pointers(image, room->bytes, growth);
    pe_image_free(image);
    return pe_image_read(image, image->path, room->bytes, size, failure);
}

bool pe_room_make(struct pe_room *room, struct pe_image *image, struct change_list *changes,
                  struct failure *failure)
{
    uint32_t headers = image->header.size_of_headers, growth = 0;
    size_t end = table_end(image, PE_NEW_SECTIONS), noted;

    *room = (struct pe_room){0};
    if (image->section_count + PE_NEW_SECTIONS > PE_MAX_SECTIONS)
        return fail(failure, image->path, "expected at most %d sections, to add %d, found %zu",
                    PE_MAX_SECTIONS - PE_NEW_SECTIONS, PE_NEW_SECTIONS, image->section_count);
    if (end > headers)
        growth = align_up(end - headers, image->header.file_alignment);
    if (headers + growth > image->sections[0].rva || (growth && first_raw(image) < headers) ||
        (!growth && first_raw(image) < end) || growth > ORIGINAL_GROWTH_LIMIT)
        return fail(failure, image->path,
                    "expected room for %d more section headers, found it taken by the first "
                    "section, at RVA %#x",
                    PE_NEW_SECTIONS, image->sections[0].rva);
    if (!is_free(image, end))
        return fail(failure, image->path,
                    "expected zeros behind the section headers at byte %#zx, for %d more, found "
                    "something else",
                    table_end(image, 0), PE_NEW_SECTIONS);
    noted = (end < headers ? end : headers) - image->nt;
    if (!note(changes, image, image->nt, 0, noted) || !note_debug(changes, image, growth))
        return fail(failure, image->path, "expected its headers in the first 4 GB of the file");
    return !growth || grow(room, image, growth, failure);
}

void pe_room_free(struct pe_room *room)
{
    free(room->bytes);
    room->bytes = NULL;
}
