#include "rewriter/elf/code/elf_frame_tables.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/code/decode.h"
#include "rewriter/format/ocaml_code.h"
#include "support/memory.h"

#define MOST_FRAMES  (1u << 20) /* of a unit */
#define FEWEST       16         /* in all tables: fewer may turn up by chance */
#define MOST_AROUND  48         /* functions without a frame, at a unit's beginning and end */
#define MOST_OF_ASM  12         /* functions around the one frame of the runtime's assembly */
#define MOST_IN_VAIN 16         /* frames for each word of data, of what then is no table */
#define FROM_C       0xffff
#define HAS_DEBUG    1u
#define ALLOCATES    2u

/* A word that the dynamic linker sets; the file has 0 there. */
struct moved_word {
    uint64_t address, value;
};

/* From the first to the last return address of a table. */
struct unit {
    uint64_t first, last;
};

struct frame_tables {
    const struct code *code;
    const struct elf_class *class;
    struct moved_word *moved; /* ascending */
    size_t moved_count;
    struct unit *units;
    size_t unit_count, unit_room;
    uint64_t frames;
    uint64_t in_vain; /* frames that may yet be read of what is no table */
};

static int compare_moved(const void *left, const void *right)
{
    const struct moved_word *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

static void read_moved(struct frame_tables *tables, const struct elf_image *image)
{
    struct elf_table relocations = elf_relocations(image);

    tables->moved = memory_zeroed(relocations.count + 1, sizeof(*tables->moved));
    for (size_t i = 0; i < relocations.count; i++) {
        Elf64_Rela relocation = elf_relocation(relocations, i);

        if (ELF64_R_TYPE(relocation.r_info) == image->class->relocations.relative)
            tables->moved[tables->moved_count++] =
                (struct moved_word){relocation.r_offset, (uint64_t)relocation.r_addend};
    }
    qsort(tables->moved, tables->moved_count, sizeof(*tables->moved), compare_moved);
}

static bool read_bytes(const struct frame_tables *tables, uint64_t address, void *to, size_t size)
{
    size_t room;
    const uint8_t *bytes = code_data_at(tables->code, address, &room);

    if (!bytes || room < size)
        return false;
    memcpy(to, bytes, size);
    return true;
}

static bool read_word(const struct frame_tables *tables, uint64_t address, uint64_t *word)
{
    struct moved_word key = {address, 0};
    const struct moved_word *moved;

    *word = 0;
    if (!read_bytes(tables, address, word, tables->class->word))
        return false;
    if (*word)
        return true;
    moved = bsearch(&key, tables->moved, tables->moved_count, sizeof(key), compare_moved);
    if (moved)
        *word = moved->value;
    return true;
}

/* Is there a call in front of this address? */
static bool is_behind_call(const struct code *code, uint64_t address)
{
    static const uint8_t lengths[] = {2, 3, 4, 6, 7, 8};
    size_t room;
    const uint8_t *call = code_at(code, address - 5, &room);

    if (call && room > 5 && call[0] == 0xe8)
        return true;
    for (size_t i = 0; i < sizeof(lengths); i++) {
        call = code_at(code, address - lengths[i], &room);
        if (!call || room <= lengths[i])
            continue;
        if ((call[0] & 0xf0) == 0x40 && lengths[i] > 2) /* REX */
            call++;
        if (call[0] == 0xff && (call[1] >> 3 & 7) == 2)
            return true;
    }
    return false;
}

static uint64_t align_to_word(const struct frame_tables *tables, uint64_t address)
{
    uint64_t word = tables->class->word;

    return (address + word - 1) / word * word;
}

/* Where the next frame's description begins; 0 if there is none here. */
static uint64_t read_frame(const struct frame_tables *tables, uint64_t address, uint64_t *behind)
{
    uint64_t word = tables->class->word;
    uint16_t size, live;
    uint8_t allocations = 1;

    if (!read_word(tables, address, behind) || !is_behind_call(tables->code, *behind) ||
        !read_bytes(tables, address + word, &size, sizeof(size)) ||
        !read_bytes(tables, address + word + 2, &live, sizeof(live)))
        return 0;
    address += word + 4 + 2 * (uint64_t)live;
    if (size == FROM_C)
        return align_to_word(tables, address);
    if ((size & ~(HAS_DEBUG | ALLOCATES)) % word != 0)
        return 0;
    if (size & ALLOCATES) {
        if (!read_bytes(tables, address, &allocations, sizeof(allocations)))
            return 0;
        address += 1 + (uint64_t)allocations;
    }
    if (size & HAS_DEBUG)
        address = ((address + 3) & ~3ull) + 4 * (uint64_t)allocations;
    return align_to_word(tables, address);
}

static void add_unit(struct frame_tables *tables, struct unit unit)
{
    tables->units =
        memory_grow(tables->units, tables->unit_count, &tables->unit_room, sizeof(unit));
    tables->units[tables->unit_count++] = unit;
}

/* Reads the table there, if it is one. Returns its size; a word's if there is none. */
static uint64_t read_table(struct frame_tables *tables, uint64_t address)
{
    uint64_t word = tables->class->word, count = 0, next = address + word, behind;
    struct unit unit = {UINT64_MAX, 0};

    /* as it stands: what the loader sets is no count */
    if (!read_bytes(tables, address, &count, word) || count == 0 || count > MOST_FRAMES)
        return word;
    for (uint64_t i = 0; i < count; i++) {
        next = read_frame(tables, next, &behind);
        if (!next) {
            tables->in_vain -= i < tables->in_vain ? i : tables->in_vain;
            return word;
        }
        unit.first = behind < unit.first ? behind : unit.first;
        unit.last = behind > unit.last ? behind : unit.last;
    }
    add_unit(tables, unit);
    tables->frames += count;
    return next - address;
}

/* Without a look for where its bytes are: all words of the data are asked. */
static bool may_be_table(const struct elf_class *class, const struct code_range *range,
                         uint64_t address)
{
    uint64_t count = 0, left = range->address + range->size - address;

    if (left >= class->word)
        count = elf_word_read(class, range->bytes + (address - range->address));
    return count > 0 && count <= MOST_FRAMES;
}

/* Data that is made for it looks like the beginning of a long table at each word. */
static void find_tables(struct frame_tables *tables)
{
    uint64_t word = tables->class->word;

    for (size_t i = 0; i < tables->code->data_count; i++)
        tables->in_vain += tables->code->data[i].size / word * MOST_IN_VAIN;
    for (size_t i = 0; i < tables->code->data_count; i++) {
        const struct code_range *range = &tables->code->data[i];
        uint64_t at = align_to_word(tables, range->address), end = range->address + range->size;

        while (at < end && tables->in_vain)
            at += may_be_table(tables->class, range, at) ? read_table(tables, at) : word;
    }
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), size = strlen(end);

    return length >= size && strcmp(name + length - size, end) == 0;
}

struct unit_end {
    uint64_t address;
    bool is_begin;
};

/* A unit's end comes before the next one's beginning. */
static int compare_ends(const void *left, const void *right)
{
    const struct unit_end *a = left, *b = right;

    if (a->address != b->address)
        return a->address > b->address ? 1 : -1;
    return a->is_begin - b->is_begin;
}

static void find_names(struct frame_tables *tables, const struct elf_image *image)
{
    struct elf_table strings, symbols = elf_static_symbols(image, &strings);
    struct unit_end *ends = memory_zeroed(symbols.count + 1, sizeof(*ends));
    size_t count = 0;

    for (size_t i = 0; i < symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(symbols, i);
        const char *name = elf_string(strings, symbol.st_name);

        if (!name || strncmp(name, "caml", 4) != 0)
            continue;
        if (ends_with(name, "__code_begin") || ends_with(name, "__code_end"))
            ends[count++] = (struct unit_end){symbol.st_value, ends_with(name, "__code_begin")};
    }
    qsort(ends, count, sizeof(*ends), compare_ends);
    for (size_t i = 0; i + 1 < count; i++)
        if (ends[i].is_begin && !ends[i + 1].is_begin && ends[i].address < ends[i + 1].address)
            add_unit(tables, (struct unit){ends[i].address, ends[i + 1].address - 1});
    free(ends);
}

static void mark(struct function *function)
{
    if (!function->reason || function->reason == PATCH_FRAGMENT)
        function->reason = PATCH_FRAME_TABLE;
}

static int compare_units(const void *left, const void *right)
{
    const struct unit *a = left, *b = right;

    return (a->first > b->first) - (a->first < b->first);
}

/* Units may lie within each other: no function is looked at once for each. */
static void mark_units(struct frame_tables *tables, struct function_list *functions)
{
    struct function *next = functions->items, *end = functions->items + functions->count;

    if (tables->unit_count)
        qsort(tables->units, tables->unit_count, sizeof(*tables->units), compare_units);
    for (size_t i = 0; i < tables->unit_count; i++) {
        const struct unit *unit = &tables->units[i];
        struct function *owner = function_list_owner(functions, unit->first);

        if (!owner)
            continue;
        if (owner < next && owner->end > unit->first)
            mark(owner);
        next = owner > next ? owner : next;
        for (; next < end && next->address <= unit->last; next++)
            if (next->end > unit->first)
                mark(next);
    }
}

/* Every function of C begins with it, where compilers are asked for that, as Debian's are; OCaml's
   never do. */
static bool is_marked_as_target(const struct code *code, const struct function *function)
{
    size_t room;
    const uint8_t *bytes = code_at(code, function->address, &room);
    struct instruction first;
    ZydisDecoder decoder;

    decoder_init(&decoder, code->processor);
    return bytes && instruction_decode(&decoder, function->address, bytes, room, &first) &&
           instruction_is_landing(&first);
}

/*
 * A unit's functions without a frame, which may leave by a jump to one that has, lie before the
 * first and behind the last that has one. Where that is other code in truth, it is not recorded.
 */
static void mark_around(const struct code *code, struct function_list *functions,
                        const struct unit *unit)
{
    const struct function *first = function_list_owner(functions, unit->first),
                          *last = function_list_owner(functions, unit->last);
    size_t at, most = unit->first == unit->last ? MOST_OF_ASM : MOST_AROUND;

    if (!first || !last)
        return;
    at = (size_t)(first - functions->items);
    for (size_t i = at; i-- > 0 && at - i <= most;) {
        if (is_marked_as_target(code, &functions->items[i]))
            break;
        mark(&functions->items[i]);
    }
    at = (size_t)(last - functions->items);
    for (size_t i = at + 1; i < functions->count && i - at <= most; i++) {
        if (is_marked_as_target(code, &functions->items[i]))
            break;
        mark(&functions->items[i]);
    }
}

/* caml_alloc1 jumps to caml_call_gc, which looks up where caml_alloc1 was called. */
static void mark_jumps_to_readers(const struct code_map *map, struct function_list *functions)
{
    for (size_t i = 0; i < map->branch_count; i++) {
        const struct branch *branch = &map->branches[i];
        const struct function *to = function_list_at(functions, branch->target);
        struct function *from = function_list_owner(functions, branch->source);

        if (branch->kind != BRANCH_TABLE && to && to->reason == PATCH_RETURN_ADDRESS && from &&
            !from->reason && branch->source < from->end)
            from->reason = PATCH_FRAME_TABLE;
    }
}

/* OCaml's code without a table that is known. */
static bool is_of_another_version(const struct code *code)
{
    size_t count = 0;

    for (size_t i = 0; i < code->range_count; i++)
        count += ocaml_code_count(code->ranges[i].bytes, code->ranges[i].size);
    return count >= OCAML_FEWEST;
}

void elf_frame_tables_mark(const struct elf_image *image, const struct code *code,
                           const struct code_map *map, struct function_list *functions)
{
    struct frame_tables tables = {.code = code, .class = image->class};

    find_names(&tables, image);
    if (!tables.unit_count) {
        read_moved(&tables, image);
        find_tables(&tables);
        if (tables.frames < FEWEST)
            tables.unit_count = 0;
    }
    mark_units(&tables, functions);
    for (size_t i = 0; tables.frames && i < tables.unit_count; i++)
        mark_around(code, functions, &tables.units[i]);
    for (size_t i = 0; !tables.unit_count && i < functions->count; i++) {
        if (i == 0 && !is_of_another_version(code))
            break;
        mark(&functions->items[i]);
    }
    if (tables.unit_count)
        mark_jumps_to_readers(map, functions);
    free(tables.moved);
    free(tables.units);
}
