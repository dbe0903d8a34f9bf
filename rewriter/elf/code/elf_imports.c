#include "rewriter/elf/code/elf_imports.h"

#include <stdlib.h>

#include "rewriter/code/import_slots.h"
#include "rewriter/elf/code/elf_names.h"

/*
 * Slots of the GOT only, which belong to the linkers: a pointer in data (R_X86_64_64) is the
 * program's, and may come to point elsewhere.
 */
static bool is_slot_binding(const struct elf_class *class, const Elf64_Rela *relocation)
{
    unsigned type = ELF64_R_TYPE(relocation->r_info);

    return (type == class->relocations.slot || type == class->relocations.jump_slot) &&
           relocation->r_addend == 0;
}

static void add_slots(struct import_slots *slots, const struct elf_image *image,
                      struct elf_table relocations)
{
    struct elf_table symbols = elf_dynamic_symbols(image);

    for (size_t i = 0; i < relocations.count; i++) {
        Elf64_Rela relocation = elf_relocation(relocations, i);
        size_t index = ELF64_R_SYM(relocation.r_info);
        const char *name;
        Elf64_Sym symbol;

        if (!is_slot_binding(image->class, &relocation) || index == 0 || index >= symbols.count)
            continue;
        symbol = elf_symbol(symbols, index);
        if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT ||
            ELF64_ST_TYPE(symbol.st_info) == STT_TLS)
            continue;
        name = elf_dynamic_string(image, symbol.st_name);
        if (name && *name && elf_at(image, relocation.r_offset, image->class->word))
            import_slots_add(slots, relocation.r_offset, name);
    }
}

void elf_imports_add(struct function_list *functions, const struct code_map *map,
                     const struct elf_image *image)
{
    struct import_slots slots = {0};

    add_slots(&slots, image, elf_relocations(image));
    add_slots(&slots, image, elf_plt_relocations(image));
    import_slots_settle(&slots);
    import_slots_list(&slots, map, functions, elf_import_reason);
    free(slots.items);
}
