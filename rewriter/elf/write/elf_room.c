#include "rewriter/elf/write/elf_room.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

#define RUN_GAP     16  /* bytes of padding at most between sections that move together */
#define VISIT_LIMIT 256 /* sections looked at: in a true file, a few for each table */

/* Bytes of the file. */
struct extent {
    uint64_t offset, size;
};

enum mark {
    MARK_STAYS,
    MARK_TRIED,
    MARK_MOVES,
};

/* The tables that a section may be, by their tags. */
static const int64_t tags[] = {DT_SYMTAB, DT_VERSYM,  DT_GNU_HASH, DT_HASH,
                               DT_VERDEF, DT_VERNEED, DT_JMPREL};

#define TAGS (sizeof(tags) / sizeof(*tags))

struct planner {
    const struct elf_image *image;
    struct elf_room *room;
    uint8_t *marks;           /* enum mark, one a section */
    uint64_t addresses[TAGS]; /* of the tables, 0 for none */
    uint64_t relocations;     /* and of those that are not the PLT's */
    struct extent taken[4];   /* room that is made */
    size_t taken_count, visits;
};

static bool is_overlapping(struct extent a, struct extent b)
{
    if (a.offset < b.offset)
        return b.size && b.offset - a.offset < a.size;
    return a.size && a.offset - b.offset < b.size;
}

static bool has_within(struct extent outer, struct extent inner)
{
    return inner.offset >= outer.offset && inner.size <= outer.size &&
           inner.offset - outer.offset <= outer.size - inner.size;
}

static struct extent section_extent(const Elf64_Shdr *section)
{
    return (struct extent){section->sh_offset,
                           section->sh_type == SHT_NOBITS ? 0 : section->sh_size};
}

static struct extent segment_extent(const Elf64_Phdr *segment)
{
    return (struct extent){segment->p_offset, segment->p_filesz};
}

static bool is_at(const struct planner *planner, const Elf64_Shdr *section, int64_t tag)
{
    for (size_t i = 0; i < TAGS; i++)
        if (tags[i] == tag)
            return planner->addresses[i] && planner->addresses[i] == section->sh_addr;
    return false;
}

/* Tables that have an entry of their own among the new ones, and so leave their place anyway. */
static bool is_copied(const struct planner *planner, const Elf64_Shdr *section)
{
    const struct elf_image *image = planner->image;

    if (section->sh_type == SHT_GNU_versym)
        return is_at(planner, section, DT_VERSYM) &&
               section->sh_size == image->symbol_count * sizeof(Elf64_Half);
    return section->sh_type == SHT_DYNSYM && is_at(planner, section, DT_SYMTAB) &&
           section->sh_size == image->symbol_count * elf_record_size(image->class, ELF_SYMBOL);
}

/* What is found through the dynamic section or a program header only, and holds no addresses. */
static bool is_movable(const struct planner *planner, const Elf64_Shdr *section)
{
    const struct elf_image *image = planner->image;
    const Elf64_Phdr *interpreter = elf_segment(image, PT_INTERP);

    if (section->sh_type == image->class->relocations.section)
        return is_at(planner, section, DT_JMPREL) && planner->relocations != section->sh_addr &&
               section->sh_size == elf_dynamic_value(image, DT_PLTRELSZ, 0);
    switch (section->sh_type) {
    case SHT_NOTE:
        return true;
    case SHT_GNU_HASH:
        return is_at(planner, section, DT_GNU_HASH);
    case SHT_HASH:
        return is_at(planner, section, DT_HASH);
    case SHT_GNU_verdef:
        return is_at(planner, section, DT_VERDEF);
    case SHT_GNU_verneed:
        return is_at(planner, section, DT_VERNEED);
    case SHT_PROGBITS:
        return interpreter && interpreter->p_offset == section->sh_offset &&
               interpreter->p_filesz == section->sh_size;
    default:
        return false;
    }
}

static bool is_tied_to_section(uint32_t type)
{
    return type == PT_INTERP || type == PT_NOTE || type == PT_GNU_PROPERTY;
}

/*
 * Whether an extent is in one load segment, read as its addresses say, and nothing else but
 * sections is there.
 */
static bool is_plain(const struct elf_image *image, struct extent extent)
{
    const Elf64_Ehdr *header = &image->header;
    size_t loads = 0, section_size = elf_record_size(image->class, ELF_SECTION),
           segment_size = elf_record_size(image->class, ELF_SEGMENT);

    if (is_overlapping(extent, (struct extent){0, elf_record_size(image->class, ELF_HEADER)}) ||
        is_overlapping(extent, (struct extent){header->e_shoff, header->e_shnum * section_size}) ||
        is_overlapping(extent, (struct extent){header->e_phoff, header->e_phnum * segment_size}))
        return false;
    for (size_t i = 0; i < image->segment_count; i++) {
        const Elf64_Phdr *segment = &image->segments[i];

        if (!is_overlapping(segment_extent(segment), extent) || is_tied_to_section(segment->p_type))
            continue;
        if (segment->p_type != PT_LOAD || !has_within(segment_extent(segment), extent) || loads++)
            return false;
    }
    return loads == 1;
}

/* Marks one section as tried; false if it cannot move. */
static bool try_section(struct planner *planner, size_t index, uint64_t *cost)
{
    const struct elf_image *image = planner->image;
    const Elf64_Shdr *section = &image->sections[index];
    const uint8_t *bytes;

    if (planner->visits++ > VISIT_LIMIT)
        return false;
    if (planner->marks[index] != MARK_STAYS || is_copied(planner, section))
        return true;
    bytes = elf_at(image, section->sh_addr, section->sh_size);
    if (!(section->sh_flags & SHF_ALLOC) || section->sh_flags & (SHF_EXECINSTR | SHF_WRITE) ||
        !is_movable(planner, section) || bytes != image->bytes + section->sh_offset ||
        !is_plain(image, section_extent(section)))
        return false;
    planner->marks[index] = MARK_TRIED;
    *cost += section->sh_size;
    return true;
}

static bool try_extent(struct planner *planner, struct extent extent, uint64_t *cost)
{
    const struct elf_image *image = planner->image;

    for (size_t i = 0; i < image->section_count; i++)
        if (is_overlapping(section_extent(&image->sections[i]), extent) &&
            !try_section(planner, i, cost))
            return false;
    return true;
}

static bool is_tried(const struct planner *planner, struct extent extent)
{
    for (size_t i = 0; i < planner->image->section_count; i++)
        if (planner->marks[i] == MARK_TRIED &&
            is_overlapping(section_extent(&planner->image->sections[i]), extent))
            return true;
    return false;
}

/* What a segment like PT_NOTE describes moves as a whole. */
static bool try_segments(struct planner *planner, uint64_t *cost)
{
    const struct elf_image *image = planner->image;
    uint64_t before;

    do {
        before = *cost;
        for (size_t i = 0; i < image->segment_count; i++) {
            struct extent extent = segment_extent(&image->segments[i]);

            if (is_tied_to_section(image->segments[i].p_type) && is_tried(planner, extent) &&
                (planner->visits++ > VISIT_LIMIT || !try_extent(planner, extent, cost)))
                return false;
        }
    } while (*cost != before);
    return true;
}

static bool is_taken(const struct planner *planner, struct extent extent)
{
    for (size_t i = 0; i < planner->taken_count; i++)
        if (is_overlapping(planner->taken[i], extent))
            return true;
    return false;
}

/* Whether what no section covers is padding: a file may have lost some of its sections. */
static bool is_known(const struct planner *planner, struct extent extent)
{
    const struct elf_image *image = planner->image;

    for (uint64_t at = extent.offset; at - extent.offset < extent.size; at++) {
        bool is_covered = image->bytes[at] == 0;

        for (size_t i = 0; !is_covered && i < image->section_count; i++)
            is_covered =
                is_overlapping(section_extent(&image->sections[i]), (struct extent){at, 1});
        if (!is_covered)
            return false;
    }
    return true;
}

/* Makes room for `size` bytes at an offset, if that moves less than `limit` bytes. */
static bool make_room(struct planner *planner, uint64_t offset, uint64_t size, uint64_t limit)
{
    struct extent extent = {offset, size};
    uint64_t cost = 0;
    bool is_made = size && !is_taken(planner, extent) && is_plain(planner->image, extent) &&
                   try_extent(planner, extent, &cost) && try_segments(planner, &cost) &&
                   is_known(planner, extent) && cost < limit;

    for (size_t i = 0; i < planner->image->section_count; i++)
        if (planner->marks[i] == MARK_TRIED)
            planner->marks[i] = is_made ? MARK_MOVES : MARK_STAYS;
    if (is_made)
        planner->taken[planner->taken_count++] = extent;
    return is_made;
}

/* Makes room for `size` bytes behind a table that lies at an address, if that moves less than the
   table's size. */
static bool make_room_behind(struct planner *planner, uint64_t address, uint64_t table_size,
                             uint64_t size)
{
    const uint8_t *bytes = table_size ? elf_at(planner->image, address, table_size) : NULL;
    uint64_t offset = bytes ? (uint64_t)(bytes - planner->image->bytes) : 0;

    return bytes && !is_taken(planner, (struct extent){offset, table_size}) &&
           make_room(planner, offset + table_size, size, table_size);
}

static int by_address(const void *left, const void *right)
{
    const struct elf_move *a = left, *b = right;

    return a->from < b->from ? -1 : a->from > b->from;
}

/* One move for what lies side by side; false if that makes too many. */
static bool moves_collect(struct planner *planner)
{
    const struct elf_image *image = planner->image;
    struct elf_move *all = memory_zeroed(image->section_count, sizeof(*all));
    struct elf_room *room = planner->room;
    size_t count = 0;
    bool is_enough = true;

    for (size_t i = 0; i < image->section_count; i++)
        if (planner->marks[i] == MARK_MOVES)
            all[count++] =
                (struct elf_move){image->sections[i].sh_addr, image->sections[i].sh_size, 0};
    if (count)
        qsort(all, count, sizeof(*all), by_address);
    for (size_t i = 0; i < count; i++) {
        struct elf_move *last =
            room->moves.count ? &room->moves.items[room->moves.count - 1] : NULL;
        uint64_t end = all[i].from + all[i].size;

        if (last && all[i].from - last->from <= last->size + RUN_GAP &&
            elf_at(image, last->from, end - last->from))
            last->size = end - last->from > last->size ? end - last->from : last->size;
        else if (room->moves.count < ELF_ROOM_MOVES)
            room->moves.items[room->moves.count++] = all[i];
        else
            is_enough = false;
    }
    free(all);
    return is_enough;
}

/* Whether each segment like PT_NOTE is in one move or in none. */
static bool has_whole_segments(const struct elf_image *image, const struct elf_room *room)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        struct extent segment = {image->segments[i].p_vaddr, image->segments[i].p_filesz};

        for (size_t j = 0; is_tied_to_section(image->segments[i].p_type) && j < room->moves.count;
             j++) {
            struct extent move = {room->moves.items[j].from, room->moves.items[j].size};

            if (is_overlapping(segment, move) && !has_within(move, segment))
                return false;
        }
    }
    return true;
}

void elf_room_plan(struct elf_room *room, const struct elf_image *image,
                   const struct elf_room_need *need)
{
    struct planner planner = {
        .image = image, .room = room, .marks = memory_zeroed(image->section_count + 1, 1)};
    struct elf_table relocations = elf_relocations(image);
    const struct elf_class *class = image->class;
    uint64_t headers =
        image->header.e_phoff + image->segment_count * elf_record_size(class, ELF_SEGMENT);

    *room = (struct elf_room){0};
    if (image->section_count == 0)
        goto done;
    for (size_t i = 0; i < TAGS; i++)
        planner.addresses[i] = elf_dynamic_value(image, tags[i], 0);
    planner.relocations = elf_dynamic_value(image, class->relocations.table, 0);
    room->has_headers = make_room(&planner, headers, need->headers, UINT64_MAX);
    room->has_relocations = make_room_behind(
        &planner, planner.relocations, relocations.count * elf_record_size(class, ELF_RELOCATION),
        need->relocations);
    room->has_strings = make_room_behind(&planner, elf_dynamic_value(image, DT_STRTAB, 0),
                                         elf_dynamic_value(image, DT_STRSZ, 0), need->strings);
    room->has_symbols =
        make_room_behind(&planner, elf_dynamic_value(image, DT_SYMTAB, 0),
                         image->symbol_count * elf_record_size(class, ELF_SYMBOL), need->symbols);
    if (!moves_collect(&planner) || !has_whole_segments(image, room))
        *room = (struct elf_room){0};

done:
    free(planner.marks);
}

uint64_t elf_moved(const struct elf_moves *moves, uint64_t address)
{
    for (size_t i = 0; i < moves->count; i++)
        if (address - moves->items[i].from < moves->items[i].size)
            return moves->items[i].to + (address - moves->items[i].from);
    return address;
}
