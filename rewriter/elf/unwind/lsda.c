#include "rewriter/elf/unwind/lsda.h"

#include <stdlib.h>

#include "support/memory.h"
#include "support/sorted.h"

#define LONGEST_NUMBER 20 /* bytes of a filter or a distance; 10 hold all there are */

/* How many bytes it may have: up to the next one. 0 if another FDE has the same. */
static uint64_t room_of(const struct elf_image *image, const struct eh_frame *frame,
                        uint64_t address)
{
    size_t at = partition_point(i, frame->lsda_count, frame->lsdas[i] < address);
    uint64_t room = elf_available(image, address), distance;

    if (at + 1 >= frame->lsda_count)
        return room;
    distance = frame->lsdas[at + 1] - address;
    return distance < room ? distance : room;
}

/* The headers, up to the first call site. */
static bool head_read(struct lsda *lsda, const struct elf_image *image, uint64_t address,
                      uint64_t room)
{
    const uint8_t *bytes = elf_at(image, address, room), *sites;
    struct dwarf_reader reader = {bytes, bytes + room, false};
    size_t word = image->class->word;
    uint8_t encoding = dwarf_encoding((uint8_t)dwarf_fixed(&reader, 1), word);
    uint64_t size;

    lsda->pads = lsda->start;
    if (encoding != DW_EH_PE_omit) {
        if ((encoding & 0xf0) == 0 && image->header.e_type != ET_EXEC)
            return false; /* the loader changes it */
        lsda->pads = dwarf_pointer(&reader, encoding, address + 1);
    }
    lsda->type_encoding = dwarf_encoding((uint8_t)dwarf_fixed(&reader, 1), word);
    if (lsda->type_encoding != DW_EH_PE_omit) {
        size = dwarf_uleb(&reader);
        lsda->types = address + (uint64_t)(reader.at - bytes) + size;
    }
    lsda->site_encoding = dwarf_encoding((uint8_t)dwarf_fixed(&reader, 1), word);
    size = dwarf_uleb(&reader);
    sites = dwarf_skip(&reader, size);
    if (!sites || lsda->site_encoding & 0xf0)
        return false;
    lsda->sites = (struct dwarf_reader){sites, sites + size, false};
    lsda->actions = (struct cfi_program){reader.at, (size_t)(reader.end - reader.at)};
    return true;
}

/* A call site, whatever it says; false at the end and if it is cut off. */
static bool site_read(struct lsda *lsda, struct lsda_site *site)
{
    struct dwarf_reader *reader = &lsda->sites;
    uint64_t pad;

    if (reader->at == reader->end)
        return false;
    site->start = lsda->start + dwarf_pointer(reader, lsda->site_encoding, 0);
    site->end = site->start + dwarf_pointer(reader, lsda->site_encoding, 0);
    pad = dwarf_pointer(reader, lsda->site_encoding, 0);
    site->pad = pad ? lsda->pads + pad : 0;
    site->action = dwarf_uleb(reader);
    return !reader->is_short;
}

/*
 * Follows an action and those that it leads to, up to one where somebody was before: so all of
 * them together are followed in linear time. False if they leave the room. *size: behind the last.
 */
static bool actions_follow(const struct cfi_program *room, uint64_t at, uint8_t *is_seen,
                           size_t *size)
{
    while (at < room->size && !is_seen[at]) {
        size_t left = room->size - at, end;
        struct dwarf_reader reader = {room->bytes + at, NULL, false};
        uint64_t distance;

        reader.end = reader.at + (left < LONGEST_NUMBER ? left : LONGEST_NUMBER);
        is_seen[at] = true;
        dwarf_sleb(&reader);
        at = (uint64_t)(reader.at - room->bytes);
        distance = (uint64_t)dwarf_sleb(&reader);
        if (reader.is_short)
            return false;
        end = (size_t)(reader.at - room->bytes);
        *size = end > *size ? end : *size;
        if (distance == 0)
            return true;
        at += distance;
    }
    return at < room->size;
}

/* Checks every call site and its actions, and measures these. */
static bool sites_check(struct lsda lsda, size_t *action_size)
{
    uint8_t *is_seen = memory_zeroed(lsda.actions.size + 1, 1);
    uint64_t end = lsda.start;
    struct lsda_site site;
    bool is_good = true;

    *action_size = 0;
    while (is_good && site_read(&lsda, &site)) {
        is_good =
            site.start >= end && site.end >= site.start && site.end <= lsda.limit &&
            (!site.action || actions_follow(&lsda.actions, site.action - 1, is_seen, action_size));
        end = site.end;
    }
    free(is_seen);
    return is_good && !lsda.sites.is_short;
}

bool lsda_read(struct lsda *lsda, const struct elf_image *image, const struct eh_frame *frame,
               const struct fde *fde)
{
    uint64_t room = room_of(image, frame, fde->lsda);

    *lsda = (struct lsda){.start = fde->address, .limit = fde->address + fde->size};
    return room && lsda->limit > lsda->start && head_read(lsda, image, fde->lsda, room) &&
           sites_check(*lsda, &lsda->actions.size);
}

bool lsda_next(struct lsda *lsda, struct lsda_site *site)
{
    while (site_read(lsda, site))
        if (site->start < site->end)
            return true;
    return false;
}

static int by_number(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static size_t each_once(uint64_t *numbers, size_t count)
{
    size_t kept = 0;

    if (count)
        qsort(numbers, count, sizeof(*numbers), by_number);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || numbers[i] != numbers[kept - 1])
            numbers[kept++] = numbers[i];
    return kept;
}

uint64_t *lsda_pads(const struct elf_image *image, const struct eh_frame *frame, size_t *count)
{
    uint64_t *pads = NULL;
    size_t room = 0;

    *count = 0;
    for (size_t i = 0; i < frame->fde_count; i++) {
        struct lsda_site site;
        struct lsda lsda;

        if (!frame->fdes[i].lsda || !lsda_read(&lsda, image, frame, &frame->fdes[i]))
            continue;
        while (lsda_next(&lsda, &site)) {
            if (!site.pad)
                continue;
            pads = memory_grow(pads, *count, &room, sizeof(*pads));
            pads[(*count)++] = site.pad;
        }
    }
    *count = each_once(pads, *count);
    return pads;
}
