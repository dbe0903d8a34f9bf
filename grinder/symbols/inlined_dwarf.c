#include "grinder/symbols/inlined_dwarf.h"

#include <stdlib.h>

#include "grinder/symbols/die_ranges.h"
#include "support/memory.h"
#include "support/sorted.h"

#define MAX_LEVELS 512 /* of DIEs within DIEs */
#define MAX_HOPS   16  /* from a DIE to the one that has its name */

struct spot {
    uint64_t address;
    size_t place;
    uint32_t owner; /* the innermost DIE that has it, by number; 0: none yet */
};

struct walk {
    Dwarf_Debug debug;
    struct lines_writer *writer;
    /* What is known of the unit that is read. */
    Dwarf_Die unit;
    struct spot *spots; /* by address */
    size_t spot_count;
    uint64_t base;
    uint32_t *files; /* numbers of its files; null: not asked for yet */
    size_t file_count;
    /* Of DIEs that have spots, by number: the innermost inlined call there. */
    uint32_t *inlined;
    size_t owner_count, owner_room;
    bool is_second; /* DIEs of all kinds are looked into */
    bool is_damaged;
    /* What is known of all units. */
    struct die_ranges ranges;
    struct pair_index origins; /* offsets of DIEs that were asked for their names */
    uint32_t *names;           /* of each */
    size_t name_room;
};

/* A DIE whose children are looked at. */
struct level {
    uint32_t owner;    /* its number */
    size_t spots_left; /* that it has, and none of its children */
    unsigned level;    /* of DIEs */
    unsigned depth;    /* of inlined calls */
};

static void walk_children(struct walk *walk, Dwarf_Die parent, struct level *level);

/* --- names --- */

/* Null if it has none, or it is in another file. */
static const char *text_of(Dwarf_Die die, Dwarf_Half name)
{
    Dwarf_Attribute attribute = NULL;
    Dwarf_Error error = NULL;
    Dwarf_Half form = 0;
    char *text = NULL;

    if (dwarf_attr(die, name, &attribute, &error) != DW_DLV_OK)
        return NULL;
    if (dwarf_whatform(attribute, &form, &error) != DW_DLV_OK || form == DW_FORM_GNU_strp_alt ||
        form == DW_FORM_strp_sup || dwarf_formstring(attribute, &text, &error) != DW_DLV_OK)
        text = NULL;
    dwarf_dealloc_attribute(attribute);
    return text;
}

/* The offset of the DIE that an attribute refers to; 0 if there is none in .debug_info. */
static Dwarf_Off reference_of(Dwarf_Die die, Dwarf_Half name)
{
    Dwarf_Attribute attribute = NULL;
    Dwarf_Error error = NULL;
    Dwarf_Half form = 0;
    Dwarf_Off offset = 0;

    if (dwarf_attr(die, name, &attribute, &error) != DW_DLV_OK)
        return 0;
    if (dwarf_whatform(attribute, &form, &error) != DW_DLV_OK || form == DW_FORM_GNU_ref_alt ||
        form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8 || form == DW_FORM_ref_sig8 ||
        dwarf_global_formref(attribute, &offset, &error) != DW_DLV_OK)
        offset = 0;
    dwarf_dealloc_attribute(attribute);
    return offset;
}

/* The number of the name of the DIE at an offset: its linkage name, or else what it is called.
   Where it has none, the DIE does that it comes from. */
static uint32_t find_name(struct walk *walk, Dwarf_Off offset)
{
    const char *symbol = NULL, *name = NULL;

    for (int hop = 0; offset && !symbol && hop < MAX_HOPS; hop++) {
        Dwarf_Die die = NULL;
        Dwarf_Error error = NULL;
        if (dwarf_offdie_b(walk->debug, offset, 1, &die, &error) != DW_DLV_OK)
            break;
        symbol = text_of(die, DW_AT_linkage_name);
        if (!symbol)
            symbol = text_of(die, DW_AT_MIPS_linkage_name);
        if (!name)
            name = text_of(die, DW_AT_name);
        offset = reference_of(die, DW_AT_abstract_origin);
        if (!offset)
            offset = reference_of(die, DW_AT_specification);
        dwarf_dealloc_die(die);
    }
    if (!symbol)
        symbol = name;
    return symbol ? lines_writer_function(walk->writer, symbol) : 0;
}

static uint32_t name_of_inlined(struct walk *walk, Dwarf_Die die)
{
    Dwarf_Off origin = reference_of(die, DW_AT_abstract_origin);
    uint32_t number;

    if (!origin)
        return 0;
    if (!pair_index_find(&walk->origins, origin, 0, &number)) {
        walk->names =
            memory_grow(walk->names, walk->origins.count, &walk->name_room, sizeof(*walk->names));
        number = pair_index_add(&walk->origins, origin, 0);
        walk->names[number] = find_name(walk, origin);
    }
    return walk->names[number];
}

/* --- places of calls --- */

static uint32_t number_of(Dwarf_Die die, Dwarf_Half name)
{
    Dwarf_Attribute attribute = NULL;
    Dwarf_Error error = NULL;
    Dwarf_Unsigned value = 0;
    Dwarf_Signed signed_value = 0;

    if (dwarf_attr(die, name, &attribute, &error) != DW_DLV_OK)
        return 0;
    if (dwarf_formudata(attribute, &value, &error) != DW_DLV_OK)
        value = dwarf_formsdata(attribute, &signed_value, &error) == DW_DLV_OK
                    ? (Dwarf_Unsigned)signed_value
                    : 0;
    dwarf_dealloc_attribute(attribute);
    return value > UINT32_MAX ? 0 : (uint32_t)value;
}

/* Files are numbered from 1 up to DWARF 4, from 0 since. */
static void read_files(struct walk *walk)
{
    Dwarf_Half version = 0, offset_size = 0;
    Dwarf_Signed count = 0;
    Dwarf_Error error = NULL;
    char **files = NULL;
    size_t first;

    if (dwarf_get_version_of_die(walk->unit, &version, &offset_size) != DW_DLV_OK ||
        dwarf_srcfiles(walk->unit, &files, &count, &error) != DW_DLV_OK || count < 0)
        count = 0;
    first = version < 5;
    walk->file_count = (size_t)count + first;
    walk->files = memory_zeroed(walk->file_count, sizeof(*walk->files));
    for (size_t i = 0; i < (size_t)count; i++) {
        walk->files[i + first] = lines_writer_file(walk->writer, files[i]);
        dwarf_dealloc(walk->debug, files[i], DW_DLA_STRING);
    }
    if (files)
        dwarf_dealloc(walk->debug, files, DW_DLA_LIST);
}

static struct line call_of(struct walk *walk, Dwarf_Die die)
{
    uint32_t file = number_of(die, DW_AT_call_file);
    struct line call = {.line = number_of(die, DW_AT_call_line)};

    if (!walk->files)
        read_files(walk);
    if (file < walk->file_count)
        call.file = walk->files[file];
    return call;
}

/* --- spots --- */

/* The DIE's number; 0 if it has none of the spots that are left to the level. */
static uint32_t claim(struct walk *walk, const struct level *level, struct level *inner)
{
    uint32_t number = (uint32_t)walk->owner_count;

    inner->spots_left = 0;
    for (size_t r = 0; r < walk->ranges.count; r++) {
        const struct die_range *range = &walk->ranges.items[r];
        size_t i = partition_point(k, walk->spot_count, walk->spots[k].address < range->low);
        for (; i < walk->spot_count && walk->spots[i].address < range->high; i++) {
            if (walk->spots[i].owner != level->owner)
                continue;
            walk->spots[i].owner = number;
            inner->spots_left++;
        }
    }
    if (!inner->spots_left)
        return 0;
    walk->inlined =
        memory_grow(walk->inlined, walk->owner_count, &walk->owner_room, sizeof(*walk->inlined));
    walk->inlined[walk->owner_count++] = walk->inlined[level->owner];
    return number;
}

/* A DIE that is about code. */
static void walk_code(struct walk *walk, Dwarf_Die die, Dwarf_Half tag, struct level *level)
{
    struct level inner = {.level = level->level + 1, .depth = level->depth};

    if (tag == DW_TAG_subprogram)
        inner.depth = 0;
    else if (tag == DW_TAG_inlined_subroutine && inner.depth++ >= LINES_MAX_DEPTH)
        return;
    inner.owner = claim(walk, level, &inner);
    if (!inner.owner)
        return;
    level->spots_left -= inner.spots_left;
    if (tag == DW_TAG_subprogram)
        walk->inlined[inner.owner] = 0;
    if (tag == DW_TAG_inlined_subroutine) {
        uint32_t name = name_of_inlined(walk, die);
        uint32_t call = lines_writer_inlined(walk->writer, walk->inlined[level->owner], name,
                                             call_of(walk, die));
        if (call)
            walk->inlined[inner.owner] = call;
    }
    walk_children(walk, die, &inner);
}

static bool is_block(Dwarf_Half tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
           tag == DW_TAG_with_stmt;
}

static void walk_die(struct walk *walk, Dwarf_Die die, struct level *level)
{
    Dwarf_Half tag = 0;
    Dwarf_Error error = NULL;
    bool is_code, is_looked_into;

    if (dwarf_tag(die, &tag, &error) != DW_DLV_OK)
        return;
    is_code = tag == DW_TAG_subprogram ||
              (level->owner && (tag == DW_TAG_inlined_subroutine || is_block(tag)));
    is_looked_into = tag == DW_TAG_namespace || tag == DW_TAG_module ||
                     (level->owner && is_block(tag)) || (walk->is_second && !level->owner);
    if (is_code && die_ranges_read(&walk->ranges, walk->debug, die, walk->base)) {
        walk_code(walk, die, tag, level);
        is_looked_into = walk->is_second && !level->owner && level->spots_left;
    }
    if (is_looked_into && level->level < MAX_LEVELS) {
        level->level++;
        walk_children(walk, die, level);
        level->level--;
    }
}

static void walk_children(struct walk *walk, Dwarf_Die parent, struct level *level)
{
    Dwarf_Die child = NULL;
    Dwarf_Error error = NULL;
    int status = dwarf_child(parent, &child, &error);

    while (status == DW_DLV_OK) {
        Dwarf_Die next = NULL;
        walk_die(walk, child, level);
        status = level->spots_left && !walk->is_damaged
                     ? dwarf_siblingof_b(walk->debug, child, 1, &next, &error)
                     : DW_DLV_NO_ENTRY;
        dwarf_dealloc_die(child);
        child = next;
    }
    if (status == DW_DLV_ERROR)
        walk->is_damaged = true;
}

static int compare_spots(const void *left, const void *right)
{
    uint64_t a = ((const struct spot *)left)->address, b = ((const struct spot *)right)->address;

    return (a > b) - (a < b);
}

/* walk->spots are those of the unit. */
static void walk_unit(struct walk *walk)
{
    struct level level = {.spots_left = walk->spot_count};

    walk->base = die_ranges_base(walk->unit);
    walk->inlined = memory_grow(walk->inlined, 0, &walk->owner_room, sizeof(*walk->inlined));
    walk->inlined[0] = 0;
    walk->owner_count = 1;
    for (int pass = 0; pass < 2 && level.spots_left && !walk->is_damaged; pass++) {
        walk->is_second = pass > 0;
        walk_children(walk, walk->unit, &level);
    }
    for (size_t i = 0; i < walk->spot_count; i++)
        if (walk->inlined[walk->spots[i].owner])
            lines_writer_innermost(walk->writer, walk->spots[i].place,
                                   walk->inlined[walk->spots[i].owner]);
    free(walk->files);
    walk->files = NULL;
}

/* --- all units --- */

void inlined_search_unit(struct inlined_search *search, Dwarf_Die unit)
{
    Dwarf_Error error = NULL;

    if (dwarf_dieoffset(unit, &search->at_hand, &error) != DW_DLV_OK)
        search->at_hand = 0;
}

void inlined_search_add(struct inlined_search *search, size_t place)
{
    if (search->at_hand) {
        search->units = memory_grow(search->units, search->unit_count, &search->unit_room,
                                    sizeof(*search->units));
        search->units[search->unit_count++] =
            (struct inlined_unit){search->at_hand, search->spot_count};
        search->at_hand = 0;
    }
    if (!search->unit_count)
        return;
    search->spots =
        memory_grow(search->spots, search->spot_count, &search->spot_room, sizeof(*search->spots));
    search->spots[search->spot_count++] = place;
}

/* The spots of a unit, by address. */
static void gather_spots(struct walk *walk, const struct inlined_search *search, size_t unit,
                         const struct line_table *table)
{
    size_t first = search->units[unit].first_spot;
    size_t end =
        unit + 1 < search->unit_count ? search->units[unit + 1].first_spot : search->spot_count;

    walk->spot_count = end - first;
    for (size_t i = 0; i < walk->spot_count; i++) {
        size_t place = search->spots[first + i];
        walk->spots[i] = (struct spot){.address = table->addresses[place], .place = place};
    }
    qsort(walk->spots, walk->spot_count, sizeof(*walk->spots), compare_spots);
}

bool inlined_search_write(const struct inlined_search *search, Dwarf_Debug debug,
                          const struct line_table *table, struct lines_writer *writer)
{
    struct walk walk = {.debug = debug, .writer = writer};
    bool is_whole = true;

    walk.spots = memory_zeroed(search->spot_count, sizeof(*walk.spots));
    for (size_t i = 0; i < search->unit_count; i++) {
        Dwarf_Error error = NULL;
        walk.is_damaged =
            dwarf_offdie_b(debug, search->units[i].offset, 1, &walk.unit, &error) != DW_DLV_OK;
        if (!walk.is_damaged) {
            gather_spots(&walk, search, i, table);
            walk_unit(&walk);
            dwarf_dealloc_die(walk.unit);
        }
        is_whole &= !walk.is_damaged;
    }
    free(walk.spots);
    free(walk.inlined);
    free(walk.names);
    pair_index_free(&walk.origins);
    die_ranges_free(&walk.ranges);
    return is_whole;
}
