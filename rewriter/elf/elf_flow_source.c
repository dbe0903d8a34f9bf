#include "rewriter/elf/elf_flow_source.h"

#include "rewriter/elf/lsda.h"
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    struct elf_flow_source *flow;
    const struct elf_image *image;
    const struct code *code;
};

static void add(struct reading *reading, uint64_t slot, uint64_t target)
{
    struct elf_flow_source *flow = reading->flow;

    if (!code_range_at(reading->code, target))
        return;
    flow->pointers = memory_grow(flow->pointers, flow->source.pointer_count, &flow->pointer_room,
                                 sizeof *flow->pointers);
    flow->pointers[flow->source.pointer_count++] = (struct flow_pointer){slot, target};
}

/* Where a symbol of the image's own leads; 0 if another image's may take its place. */
static uint64_t symbol_address(struct elf_table symbols, uint64_t index)
{
    Elf64_Sym symbol;

    if (index >= symbols.count)
        return 0;
    symbol = elf_symbol(symbols, index);
    return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS ? symbol.st_value : 0;
}

static void add_relocated(struct reading *reading)
{
    struct elf_table relocations = elf_relocations(reading->image);
    struct elf_table symbols = elf_dynamic_symbols(reading->image);

    for (size_t i = 0; i < relocations.count; i++) {
        Elf64_Rela relocation = elf_relocation(relocations, i);
        uint64_t addend = (uint64_t)relocation.r_addend, address;

        if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE)
            add(reading, relocation.r_offset, addend);
        if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_64)
            continue;
        address = symbol_address(symbols, ELF64_R_SYM(relocation.r_info));
        if (address)
            add(reading, relocation.r_offset, address + addend);
    }
}

static bool add_packed(void *context, uint64_t address)
{
    struct reading *reading = context;
    const uint8_t *bytes = elf_at(reading->image, address, sizeof address);
    uint64_t target;

    if (!bytes)
        return true;
    memcpy(&target, bytes, sizeof target);
    add(reading, address, target);
    return true;
}

/* Labels of assembly that other images may jump to. Functions are in the function list. */
static void add_symbols(struct reading *reading)
{
    struct elf_table symbols = elf_dynamic_symbols(reading->image);

    for (size_t i = 0; i < symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(symbols, i);

        if (ELF64_ST_TYPE(symbol.st_info) == STT_NOTYPE && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_shndx != SHN_ABS)
            add(reading, 0, symbol.st_value);
    }
}

static void add_words(struct reading *reading)
{
    for (size_t i = 0; i < reading->code->data_count; i++) {
        const struct code_range *range = &reading->code->data[i];
        uint64_t word;

        for (uint64_t at = -range->address & 7; at + 8 <= range->size; at += 8) {
            memcpy(&word, range->bytes + at, sizeof word);
            add(reading, range->address + at, word);
        }
    }
}

static int by_slot(const void *left, const void *right)
{
    const struct flow_pointer *a = left, *b = right;

    if (a->slot != b->slot)
        return a->slot < b->slot ? -1 : 1;
    return a->target < b->target ? -1 : a->target > b->target;
}

static int by_target(const void *left, const void *right, void *context)
{
    const struct flow_pointer *pointers = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (pointers[a].target != pointers[b].target)
        return pointers[a].target < pointers[b].target ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Sorts pointers, drops those found twice, and makes the index. */
static void settle(struct elf_flow_source *flow)
{
    size_t count = flow->source.pointer_count, kept = 0;

    if (count)
        qsort(flow->pointers, count, sizeof *flow->pointers, by_slot);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || by_slot(&flow->pointers[kept - 1], &flow->pointers[i]) != 0)
            flow->pointers[kept++] = flow->pointers[i];
    flow->by_target = memory_zeroed(kept, sizeof *flow->by_target);
    for (size_t i = 0; i < kept; i++)
        flow->by_target[i] = (uint32_t)i;
    if (kept)
        qsort_r(flow->by_target, kept, sizeof *flow->by_target, by_target, flow->pointers);
    flow->source.pointer_count = kept;
}

void elf_flow_source_read(struct elf_flow_source *flow, const struct elf_code *elf,
                          const struct elf_image *image)
{
    struct reading reading = {flow, image, &elf->code};

    *flow = (struct elf_flow_source){
        .source = {.code = &elf->code, .map = &elf->map, .functions = &elf->functions}};
    add_relocated(&reading);
    elf_packed_visit(image, add_packed, &reading);
    add_symbols(&reading);
    if (elf->code.has_absolute_code)
        add_words(&reading);
    settle(flow);
    flow->pads = lsda_pads(image, &elf->frame, &flow->source.pad_count);
    flow->source.pointers = flow->pointers;
    flow->source.by_target = flow->by_target;
    flow->source.pads = flow->pads;
}

void elf_flow_source_free(struct elf_flow_source *flow)
{
    free(flow->pointers);
    free(flow->by_target);
    free(flow->pads);
    *flow = (struct elf_flow_source){0};
}
