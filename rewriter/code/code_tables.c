/*
 * Jump tables, of 32-bit distances from the table or of addresses. Where code takes the address
 * of data and jumps through a register, the data may be one. A table has no length; it ends where
 * the next may begin, or where its entries lead somewhere else than into the function and, now
 * and then, into a fragment of it. An entry too many costs at most a function left alone.
 *
 * Microsoft's compilers put tables behind the code, with distances from the image's base, and of
 * bytes, which choose among these:
 *
 *      movzx eax, byte [rdx + rax + table]
 *      mov   ecx, [rdx + rax * 4 + table]      rdx: the image's base
 *      add   rcx, rdx
 *      jmp   rcx
 *
 * In PIC code of 32 bits, distances are those from the global offset table:
 *
 *      mov   eax, [ebx + eax * 4 + table - got]        ebx: got
 *      add   eax, ebx
 *      jmp   eax
 */
#include "rewriter/code/code_tables.h"

#include <stdlib.h>
#include <string.h>

#define SIB_NO_BASE 5 /* with mod 0 */
#define SIB_BY_4    2

#define STRAY_LIMIT 64 /* entries in a row that lead elsewhere: the table is over */

static int by_address(const void *left, const void *right)
{
    const struct code_table *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Whether entries are addresses. */
static bool has_addresses(const struct code *code, const struct code_table *table)
{
    return code->has_absolute_code && table->origin == table->address;
}

static uint64_t target_of(const struct code *code, const struct code_table *table,
                          const uint8_t *entry)
{
    int32_t distance;

    if (has_addresses(code, table))
        return code_pointer_at(code, entry);
    memcpy(&distance, entry, sizeof(distance));
    return (table->origin + (uint64_t)(int64_t)distance) & code_address_mask(code);
}

static void note_entries(const struct code *code, const struct code_table *table, size_t size,
                         struct code_map *map)
{
    size_t entry_size = has_addresses(code, table) ? code->processor->pointer_size : 4;
    size_t room, strays = 0;
    const uint8_t *bytes = code_data_at(code, table->address, &room);

    if (table->origin == code->table_origin && table->origin != table->address)
        bytes = code_at(code, table->address, &room);
    size = bytes && size > room ? room : size;
    for (; bytes && size >= entry_size && strays < STRAY_LIMIT; size -= entry_size) {
        uint64_t target = target_of(code, table, bytes);
        bool is_own = target >= table->start && target < table->end;

        bytes += entry_size;
        if (!is_own && !code_range_at(code, target))
            return;
        strays = is_own ? 0 : strays + 1;
        if (is_own)
            address_set_add(&map->jumps, target);
        if (!is_own || target - table->start <= PATCH_MAX_DISPLACED)
            code_map_add(map, (struct branch){
                                  .target = target, .source = table->start, .kind = BRANCH_TABLE});
    }
}

/* Whether the instruction has an operand [base + index * n + distance]. */
static bool is_indexed(const ZydisDecodedInstruction *zydis)
{
    return zydis->attributes & ZYDIS_ATTRIB_HAS_MODRM && zydis->raw.modrm.mod == 2 &&
           zydis->raw.modrm.rm == 4 && zydis->raw.disp.size == 32;
}

/* Whether it has an operand [index * 4 + address]. */
static bool is_array(const ZydisDecodedInstruction *zydis)
{
    return zydis->attributes & ZYDIS_ATTRIB_HAS_MODRM && zydis->raw.modrm.mod == 0 &&
           zydis->raw.modrm.rm == 4 && zydis->raw.sib.base == SIB_NO_BASE &&
           zydis->raw.sib.scale == SIB_BY_4;
}

struct code_table code_table_loaded(const struct code *code, const struct instruction *at)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;
    struct code_table table = {0};

    if (code->processor->pointer_size != 4 ||
        (zydis->mnemonic != ZYDIS_MNEMONIC_MOV && zydis->mnemonic != ZYDIS_MNEMONIC_ADD))
        return table;
    if (code->has_absolute_code && is_array(zydis)) {
        table.address = table.origin = (uint64_t)zydis->raw.disp.value & UINT32_MAX;
    } else if (code->got && is_indexed(zydis) && zydis->raw.sib.scale == SIB_BY_4) {
        table.address = (code->got + (uint64_t)zydis->raw.disp.value) & UINT32_MAX;
        table.origin = code->got;
    }
    return table;
}

/* Whether the instruction loads from [base + index * n + distance]. */
static bool is_indexed_load(const struct instruction *at)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;
    ZydisMnemonic mnemonic = zydis->mnemonic;

    return (mnemonic == ZYDIS_MNEMONIC_MOV || mnemonic == ZYDIS_MNEMONIC_MOVZX ||
            mnemonic == ZYDIS_MNEMONIC_MOVSXD) &&
           is_indexed(zydis) && zydis->raw.disp.value > 0;
}

void code_inline_table_note(const struct code *code, struct code_map *map,
                            const struct instruction *at, uint64_t start, uint64_t end)
{
    struct code_table table = {.start = start, .end = end, .origin = code->table_origin};

    if (!code->table_origin || !is_indexed_load(at))
        return;
    table.address = code->table_origin + (uint64_t)at->zydis.raw.disp.value;
    if (!code_range_at(code, table.address))
        return;
    address_set_add(&map->inline_tables, table.address);
    if (at->zydis.mnemonic != ZYDIS_MNEMONIC_MOVZX)
        code_map_add_table(map, table);
}

void code_inline_tables_find(const struct code *code, const struct function_list *functions,
                             struct code_map *map)
{
    struct instruction at;
    ZydisDecoder decoder;

    decoder_init(&decoder, code->processor);
    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];
        uint64_t address = function->address;
        const uint8_t *bytes;
        size_t size;

        if (!(function->evidence & EVIDENCE_EXTENT) ||
            !code_map_spend_work(map, (function->end - address) * CODE_BYTE_WORK))
            continue;
        while (address < function->end && !address_set_has(&map->inline_tables, address) &&
               (bytes = code_at(code, address, &size)) &&
               instruction_decode(&decoder, address, bytes, size, &at)) {
            code_inline_table_note(code, map, &at, function->address, function->end);
            address += at.length;
        }
    }
}

void code_tables_note(const struct code *code, struct code_map *map)
{
    const struct code_table *tables = map->tables;
    uint64_t next = UINT64_MAX; /* where the table behind this one begins */

    if (map->table_count)
        qsort(map->tables, map->table_count, sizeof(*map->tables), by_address);
    for (size_t i = map->table_count; i-- > 0;) {
        if (i + 1 < map->table_count && tables[i + 1].address != tables[i].address)
            next = tables[i + 1].address;
        else if (i + 1 < map->table_count && tables[i + 1].start == tables[i].start)
            continue; /* the same function takes its address more than once */
        note_entries(code, &tables[i], next - tables[i].address, map);
    }
}
