#include "rewriter/elf/elf_imports.h"

#include "rewriter/memory.h"

#include <stdlib.h>
#include <string.h>

#define SLOT_SIZE 8

/* A slot that the dynamic linker binds to a function of another image. */
struct slot {
    uint64_t address;
    const char *name;
};

struct slot_list {
    struct slot *items;
    size_t count, room;
};

/*
 * Slots of the GOT only, which belong to the linkers: a pointer in data (R_X86_64_64) is the
 * program's, and may come to point elsewhere.
 */
static bool binds_slot(const Elf64_Rela *relocation)
{
    unsigned type = ELF64_R_TYPE(relocation->r_info);

    return (type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT) && relocation->r_addend == 0;
}

static void add_slots(struct slot_list *slots, const struct elf_image *image,
                      struct elf_table relocations)
{
    struct elf_table symbols = elf_dynamic_symbols(image);

    for (size_t i = 0; i < relocations.count; i++) {
        Elf64_Rela relocation = elf_relocation(relocations, i);
        size_t index = ELF64_R_SYM(relocation.r_info);
        struct slot slot = {.address = relocation.r_offset};
        Elf64_Sym symbol;

        if (!binds_slot(&relocation) || index == 0 || index >= symbols.count)
            continue;
        symbol = elf_symbol(symbols, index);
        if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT ||
            ELF64_ST_TYPE(symbol.st_info) == STT_TLS)
            continue;
        slot.name = elf_dynamic_string(image, symbol.st_name);
        if (!slot.name || !*slot.name || !elf_at(image, slot.address, SLOT_SIZE))
            continue;
        slots->items = memory_grow(slots->items, slots->count, &slots->room, sizeof slot);
        slots->items[slots->count++] = slot;
    }
}

static int by_address(const void *left, const void *right)
{
    const struct slot *a = left, *b = right;

    return a->address < b->address ? -1 : a->address > b->address;
}

static void add_import(struct function_list *functions, const struct slot *slot)
{
    function_list_add(functions,
                      (struct function){.address = slot->address,
                                        .end = slot->address + SLOT_SIZE,
                                        .name = slot->name,
                                        .evidence = EVIDENCE_EXTENT,
                                        .is_import = true,
                                        .is_swept = true,
                                        .reason = (uint8_t)elf_import_reason(slot->name)});
}

void elf_imports_add(struct function_list *functions, const struct code_map *map,
                     const struct elf_image *image)
{
    struct slot_list slots = {0};
    bool *is_added;

    add_slots(&slots, image, elf_relocations(image));
    add_slots(&slots, image, elf_plt_relocations(image));
    is_added = memory_zeroed(slots.count + 1, sizeof *is_added);
    if (slots.count)
        qsort(slots.items, slots.count, sizeof *slots.items, by_address);
    for (size_t i = 0; i < map->slot_use_count && slots.count; i++) {
        struct slot key = {.address = map->slot_uses[i].slot};
        const struct slot *slot = bsearch(&key, slots.items, slots.count, sizeof key, by_address);

        if (!slot || is_added[slot - slots.items])
            continue;
        is_added[slot - slots.items] = true;
        add_import(functions, slot);
    }
    function_list_settle(functions);
    free(is_added);
    free(slots.items);
}
