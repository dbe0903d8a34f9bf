/*
 * Headers that had no room for the new sections have grown, and all raw data lies further behind:
 *
 *      instrumented   headers, larger | raw data …                 | new sections
 *      original       headers | raw data …                         |
 *
 * The sections' headers of the instrumented file say where the functions are that are patched; with
 * the changes undone, the original's say how large they were.
 */
#include "grinder/original_bytes.h"

#include <stddef.h>
#include <string.h>

#include "grinder/memory.h"
#include "grinder/pe_file.h"

static bool read_sections(struct original_bytes *original, const char *path)
{
    struct bounded_file file;
    struct pe_file pe;
    const char *why;

    if (bounded_file_open(&file, path, &why) < 0 || pe_open(&pe, file, &why) < 0)
        return false;
    original->parts = memory_zeroed(pe.section_count + 1, sizeof(*original->parts));
    for (size_t i = 0; i < pe.section_count; i++)
        original->parts[original->part_count++] =
            (struct original_part){pe.sections[i].rva, pe.sections[i].offset, pe.sections[i].size};
    pe_close(&pe);
    return true;
}

static bool read_headers_size(const struct original_bytes *original, uint32_t *size)
{
    uint32_t at;

    if (!original_has(original, PE_OFFSET_AT, sizeof(at)))
        return false;
    memcpy(&at, original->bytes + PE_OFFSET_AT, sizeof(at));
    if (!original_has(original, at,
                      4 + sizeof(struct coff_header) + sizeof(struct pe_optional_header)))
        return false;
    memcpy(size,
           original->bytes + at + 4 + sizeof(struct coff_header) +
               offsetof(struct pe_optional_header, headers_size),
           sizeof(*size));
    return true;
}

/* Takes out what the headers grew by: growth bytes behind the first `behind` ones. */
static bool shrink(struct original_bytes *original, uint64_t size, uint32_t behind, uint32_t growth)
{
    if (behind > size || !original_has(original, size, growth))
        return false;
    memmove(original->bytes + behind, original->bytes + behind + growth, size - behind);
    original->size = size;
    for (size_t i = 0; i < original->part_count; i++)
        original->parts[i].offset -= growth;
    return true;
}

bool original_pe_restore(struct original_bytes *original, const struct image *image)
{
    uint32_t grown, headers;

    return read_sections(original, image->file) && read_headers_size(original, &grown) &&
           original_undo_patches(original, image) &&
           original_undo_changes(original, image->manifest.bytes) &&
           read_headers_size(original, &headers) && headers <= grown &&
           shrink(original, image->manifest.bytes->original_size, headers, grown - headers);
}
