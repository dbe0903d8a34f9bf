#include "image/manifest.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "support/sorted.h"

/* Parts are searched for a header only so far in all: they may all be the same bytes. */
#define SEARCH_SIZE (256u << 20)
#define PIECE       (64u << 10) /* bytes read at a time; a multiple of a header's */

/* Follows the header to its manifest. */
static bool follow(struct manifest_place *place, const struct loaded_ranges *ranges)
{
    uint32_t rva = place->header.manifest_rva;
    const struct loaded_range *range = loaded_range_at(ranges, rva);

    if (!range)
        return false;
    place->offset = range->offset + (rva - range->rva);
    place->room = range->size - (rva - range->rva);
    return place->room >= sizeof(struct image_manifest);
}

/* A header that is at `rva` says so itself. */
static bool read_header(struct manifest_place *place, const uint8_t *bytes, uint64_t rva)
{
    memcpy(&place->header, bytes, sizeof(place->header));
    return place->header.magic == IMAGE_MAGIC && place->header.header_rva == rva;
}

/* Whether there is a header in the first bytes of the range, as many as *left; takes from that what
   was searched. */
static bool search(struct manifest_place *place, const struct bounded_file *file,
                   const struct loaded_range *range, uint64_t *left)
{
    uint8_t bytes[PIECE];

    for (uint64_t at = 0, size; at < range->size && *left; at += size, *left -= size) {
        size = range->size - at < PIECE ? range->size - at : PIECE;
        if (size > *left)
            size = *left;
        if (bounded_file_read(file, bytes, size, range->offset + at) < 0)
            return false;
        for (uint64_t i = 0; i + sizeof(place->header) <= size; i += sizeof(place->header))
            if (read_header(place, bytes + i, range->rva + at + i))
                return true;
    }
    return false;
}

/* The first header is the only one: what is behind it is not worth a second look. */
bool manifest_find(struct manifest_place *place, const struct bounded_file *file,
                   const struct loaded_ranges *ranges)
{
    uint64_t left = SEARCH_SIZE;

    for (size_t i = ranges->count; i-- > 0;) {
        uint64_t first = sizeof(place->header);

        if (ranges->items[i].is_writable &&
            search(place, file, &ranges->items[i], ranges->is_pe ? &first : &left))
            return follow(place, ranges);
    }
    return false;
}

bool manifest_locate(struct manifest_place *place, const struct bounded_file *file)
{
    struct loaded_ranges ranges;
    bool is_found;

    if (!loaded_ranges_read(&ranges, file))
        return false;
    is_found = manifest_find(place, file, &ranges);
    loaded_ranges_free(&ranges);
    return is_found;
}

bool manifest_is_in(const struct bounded_file *file)
{
    struct manifest_place place;

    return manifest_locate(&place, file);
}

/* Whether a table of `count` items lies behind the head, and within the manifest. */
static bool fits(const struct image_manifest *head, uint32_t offset, uint32_t count, size_t item)
{
    return offset >= sizeof(*head) && offset <= head->size && count <= (head->size - offset) / item;
}

static bool tables_fit(const struct image_manifest *head)
{
    return (head->functions | head->changes | head->imports | head->copies | head->sites |
            head->stretches | head->blocks | head->ways) %
                   sizeof(uint32_t) ==
               0 &&
           fits(head, head->functions, head->function_count, sizeof(struct manifest_function)) &&
           fits(head, head->changes, head->change_count, sizeof(struct manifest_change)) &&
           fits(head, head->imports, head->import_count, sizeof(struct manifest_import)) &&
           fits(head, head->copies, head->copy_count, sizeof(struct manifest_copy)) &&
           fits(head, head->sites, head->site_count, sizeof(struct manifest_site)) &&
           fits(head, head->stretches, head->stretch_count, sizeof(struct manifest_stretch)) &&
           fits(head, head->blocks, head->block_count, sizeof(struct manifest_block)) &&
           fits(head, head->ways, head->way_count, sizeof(struct manifest_way)) &&
           (!head->way_count || head->way_count == head->block_count) &&
           (!head->build_id || fits(head, head->build_id, head->build_id_size, 1));
}

/* Bytes up to the last zero: what begins among them ends in the manifest. */
static size_t strings_end(const struct image_manifest *head)
{
    const uint8_t *zero = memrchr(head, 0, head->size);

    return zero ? (size_t)(zero - (const uint8_t *)head) + 1 : 0;
}

static bool imports_fit(const struct manifest *manifest)
{
    size_t end = strings_end(manifest->head);

    for (uint32_t i = 0; i < manifest->import_count; i++) {
        const struct manifest_import *import = &manifest->imports[i];

        if (import->function >= manifest->function_count ||
            (i && import->function <= import[-1].function) || import->name >= end)
            return false;
    }
    return true;
}

static bool copies_fit(const struct manifest *manifest)
{
    for (uint32_t i = 0; i < manifest->copy_count; i++) {
        const struct manifest_copy *copy = &manifest->copies[i];

        if (copy->function >= manifest->function_count || copy->size == 0 ||
            copy->size > UINT32_MAX - copy->rva)
            return false;
        if (i && (copy->rva < copy[-1].rva + copy[-1].size || copy->function <= copy[-1].function))
            return false;
    }
    return true;
}

/* Whether a return address lies where a function's calls return to. */
static bool is_behind(uint32_t address, uint32_t start, uint32_t size)
{
    return address > start && address - start <= size;
}

static bool sites_fit(const struct manifest *manifest)
{
    uint32_t copies = 0; /* that end before the site */

    for (uint32_t i = 0; i < manifest->site_count; i++) {
        const struct manifest_site *site = &manifest->sites[i];
        const struct manifest_copy *copy;
        const struct manifest_function *function;

        while (copies < manifest->copy_count &&
               site->copy > manifest->copies[copies].rva + manifest->copies[copies].size)
            copies++;
        if (copies == manifest->copy_count || (i && site->copy <= site[-1].copy))
            return false;
        copy = &manifest->copies[copies];
        function = &manifest->functions[copy->function];
        if (!is_behind(site->copy, copy->rva, copy->size) ||
            !is_behind(site->original, function->rva, function->size))
            return false;
    }
    return true;
}

static bool stretches_fit(const struct manifest *manifest)
{
    for (uint32_t i = 0; i < manifest->copy_count; i++) {
        const struct manifest_copy *copy = &manifest->copies[i];
        uint32_t end = i + 1 < manifest->copy_count ? copy[1].counted : manifest->stretch_count;
        uint64_t at = 0;

        if (copy->counted > end || end > manifest->stretch_count)
            return false;
        for (uint32_t k = copy->counted; k < end; k++)
            at += (uint64_t)manifest->stretches[k].gap + manifest->stretches[k].size;
        if (at > copy->size)
            return false;
    }
    return true;
}

static bool blocks_fit(const struct manifest *manifest)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < manifest->block_count; i++) {
        if (manifest->blocks[i].rva < end)
            return false;
        end = (uint64_t)manifest->blocks[i].rva + manifest->blocks[i].size;
    }
    return true;
}

static bool ways_fit(const struct manifest *manifest)
{
    uint32_t most = manifest->ways ? manifest->block_count : 0;

    for (uint32_t i = 0; i < most; i++)
        if ((manifest->ways[i].from & ~MANIFEST_COUNTED) > most || manifest->ways[i].to > most)
            return false;
    return true;
}

static bool items_fit(const struct manifest *manifest)
{
    for (uint32_t i = 0; i < manifest->function_count; i++)
        if (manifest->functions[i].patch_size > sizeof(manifest->functions[i].original))
            return false;
    for (uint32_t i = 0; i < manifest->change_count; i++)
        if (manifest->changes[i].size == 0 || manifest->changes[i].size > MANIFEST_CHANGE_SIZE)
            return false;
    return imports_fit(manifest) && copies_fit(manifest) && sites_fit(manifest) &&
           stretches_fit(manifest) && blocks_fit(manifest) && ways_fit(manifest);
}

static enum manifest_state head_read(struct image_manifest *head, const struct bounded_file *file,
                                     uint64_t offset, uint64_t room)
{
    if (room < sizeof(*head) || bounded_file_read(file, head, sizeof(*head), offset) < 0 ||
        head->magic != MANIFEST_MAGIC)
        return MANIFEST_MISSING;
    if (head->version != IMAGE_VERSION)
        return MANIFEST_OF_OTHER_VERSION;
    return head->size >= sizeof(*head) && head->size <= room && tables_fit(head)
               ? MANIFEST_WHOLE
               : MANIFEST_MALFORMED;
}

static uint32_t count_hooked(const struct manifest *manifest)
{
    uint32_t hooked = 0;

    for (uint32_t i = 0; i < manifest->function_count; i++)
        hooked += manifest->functions[i].state == FUNCTION_HOOKED;
    return hooked;
}

static const void *table(const uint8_t *bytes, uint32_t offset, uint32_t count)
{
    return count ? bytes + offset : NULL;
}

enum manifest_state manifest_read(struct manifest *manifest, const struct bounded_file *file,
                                  uint64_t offset, uint64_t room)
{
    struct image_manifest head;
    enum manifest_state state = head_read(&head, file, offset, room);
    uint8_t *bytes;

    *manifest = (struct manifest){0};
    if (state != MANIFEST_WHOLE)
        return state;
    bytes = bounded_file_copy(file, offset, head.size);
    if (!bytes)
        return MANIFEST_MALFORMED;
    memcpy(bytes, &head, sizeof(head)); /* what was checked: the file may have changed */
    *manifest = (struct manifest){
        .head = (struct image_manifest *)bytes,
        .functions = table(bytes, head.functions, head.function_count),
        .changes = table(bytes, head.changes, head.change_count),
        .imports = table(bytes, head.imports, head.import_count),
        .copies = table(bytes, head.copies, head.copy_count),
        .sites = table(bytes, head.sites, head.site_count),
        .stretches = table(bytes, head.stretches, head.stretch_count),
        .function_count = head.function_count,
        .change_count = head.change_count,
        .import_count = head.import_count,
        .copy_count = head.copy_count,
        .site_count = head.site_count,
        .stretch_count = head.stretch_count,
        .blocks = table(bytes, head.blocks, head.block_count),
        .ways = table(bytes, head.ways, head.way_count),
        .block_count = head.block_count,
    };
    manifest->hooked = count_hooked(manifest);
    if (items_fit(manifest))
        return MANIFEST_WHOLE;
    manifest_free(manifest);
    return MANIFEST_MALFORMED;
}

enum manifest_state manifest_load(struct manifest *manifest, const struct bounded_file *file)
{
    enum manifest_state state = MANIFEST_MISSING;
    struct manifest_place place;
    struct loaded_ranges ranges;

    *manifest = (struct manifest){0};
    if (!loaded_ranges_read(&ranges, file))
        return MANIFEST_MISSING;
    if (manifest_find(&place, file, &ranges)) {
        state = manifest_read(manifest, file, place.offset, place.room);
        manifest->is_away = state == MANIFEST_WHOLE && place.header.flags & IMAGE_IS_AWAY;
        manifest->stub_frame = ranges.machine == EM_386 ? STUB_FRAME_SIZE_I386 : STUB_FRAME_SIZE;
    }
    loaded_ranges_free(&ranges);
    return state;
}

void manifest_free(struct manifest *manifest)
{
    free(manifest->head);
    *manifest = (struct manifest){0};
}

const char *manifest_import_name(const struct manifest *manifest, uint32_t function)
{
    const struct manifest_import *imports = manifest->imports;
    size_t found = partition_point(i, manifest->import_count, imports[i].function < function);

    return found < manifest->import_count && imports[found].function == function
               ? manifest_string(manifest, imports[found].name)
               : NULL;
}

const struct manifest_copy *manifest_copy_at(const struct manifest *manifest, uint32_t rva)
{
    const struct manifest_copy *copies = manifest->copies;
    size_t behind = partition_point(i, manifest->copy_count, copies[i].rva <= rva);

    return behind && rva - copies[behind - 1].rva < copies[behind - 1].size ? &copies[behind - 1]
                                                                            : NULL;
}

const struct manifest_copy *manifest_copy_of(const struct manifest *manifest, uint32_t function)
{
    const struct manifest_copy *copies = manifest->copies;
    size_t found = partition_point(i, manifest->copy_count, copies[i].function < function);

    return found < manifest->copy_count && copies[found].function == function ? &copies[found]
                                                                              : NULL;
}

uint32_t manifest_original_site(const struct manifest *manifest, uint32_t rva)
{
    const struct manifest_site *sites = manifest->sites;
    size_t found = partition_point(i, manifest->site_count, sites[i].copy < rva);

    return found < manifest->site_count && sites[found].copy == rva ? sites[found].original : rva;
}

const char *manifest_string(const struct manifest *manifest, uint32_t offset)
{
    const char *bytes = (const char *)manifest->head;
    uint32_t size = manifest->head->size;

    return offset < size && memchr(bytes + offset, 0, size - offset) ? bytes + offset : NULL;
}

const char *manifest_original_path(const struct manifest *manifest)
{
    uint32_t offset = manifest->head->original_path;
    const char *path = offset ? manifest_string(manifest, offset) : NULL;

    return path && *path ? path : NULL;
}
