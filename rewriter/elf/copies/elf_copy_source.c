#include "rewriter/elf/copies/elf_copy_source.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/copies/elf_copy_frames_can.h"
#include "rewriter/elf/unwind/lsda.h"
#include "rewriter/flow/flow_returns.h"
#include "support/memory.h"

struct pointers {
    struct copy_source *source;
    const struct elf_code *elf;
    const struct elf_image *image;
};

static void add_pointer(const struct pointers *pointers, uint64_t slot, uint64_t target)
{
    struct copy_source *source = pointers->source;

    if (!code_range_at(&pointers->elf->code, target))
        return;
    source->pointers = memory_grow(source->pointers, source->pointer_count, &source->pointer_room,
                                   sizeof(*source->pointers));
    source->pointers[source->pointer_count++] = (struct flow_pointer){slot, target};
}

/* Shared libraries of code that is bound to its address have relocations in code. */
static void add_filled_in(const struct pointers *pointers, uint64_t address)
{
    struct copy_source *source = pointers->source;

    if (!code_range_at(&pointers->elf->code, address))
        return;
    source->filled_in = memory_grow(source->filled_in, source->filled_in_count,
                                    &source->filled_in_room, sizeof(address));
    source->filled_in[source->filled_in_count++] = address;
}

static bool add_packed(void *context, uint64_t address)
{
    const struct pointers *pointers = context;
    uint64_t target;
    const uint8_t *bytes = elf_at(pointers->image, address, sizeof(target));

    add_filled_in(pointers, address);
    if (bytes) {
        memcpy(&target, bytes, sizeof(target));
        add_pointer(pointers, address, target);
    }
    return true;
}

/* A slot that is filled in by a name. What a resolver (STT_GNU_IFUNC) chooses is not known. */
static void add_import(const struct pointers *pointers, const Elf64_Rela *relocation,
                       Elf64_Sym symbol)
{
    struct copy_source *source = pointers->source;
    unsigned type = ELF64_R_TYPE(relocation->r_info);
    struct flow_import import = {.slot = relocation->r_offset};
    const char *name;

    if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
        ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
        return;
    if (symbol.st_shndx != SHN_UNDEF)
        import.target = symbol.st_value;
    name = elf_dynamic_string(pointers->image, symbol.st_name);
    import.never_returns = symbol.st_shndx == SHN_UNDEF && name && flow_is_name_of_no_return(name);
    source->imports =
        memory_grow(source->imports, source->import_count, &source->import_room, sizeof(import));
    source->imports[source->import_count++] = import;
}

/* Other relocations may lead into code, too, but nobody could tell whether the loader takes the
   image's own symbol. */
static void add_relocations(const struct pointers *pointers, struct elf_table relocations)
{
    struct elf_table symbols = elf_dynamic_symbols(pointers->image);

    for (size_t i = 0; i < relocations.count; i++) {
        Elf64_Rela relocation = elf_relocation(relocations, i);
        uint64_t target = (uint64_t)relocation.r_addend;
        size_t symbol = ELF64_R_SYM(relocation.r_info);

        add_filled_in(pointers, relocation.r_offset);
        if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE)
            add_pointer(pointers, relocation.r_offset, target);
        else if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_IRELATIVE)
            add_pointer(pointers, 0, target);
        else if (symbol && symbol < symbols.count) {
            add_pointer(pointers, 0, elf_symbol(symbols, symbol).st_value + target);
            add_import(pointers, &relocation, elf_symbol(symbols, symbol));
        }
    }
}

/* In a program linked to a fixed address a word is a pointer if it looks like one. */
static void add_words(const struct pointers *pointers, const struct code_range *data)
{
    for (uint64_t at = -data->address % 8; at + 8 <= data->size; at += 8) {
        uint64_t word;

        memcpy(&word, data->bytes + at, sizeof(word));
        add_pointer(pointers, data->address + at, word);
    }
}

static void add_symbols(const struct pointers *pointers)
{
    struct elf_table symbols = elf_dynamic_symbols(pointers->image);

    for (size_t i = 0; i < symbols.count; i++)
        if (elf_symbol(symbols, i).st_shndx != SHN_UNDEF)
            add_pointer(pointers, 0, elf_symbol(symbols, i).st_value);
    add_pointer(pointers, 0, pointers->image->header.e_entry);
    add_pointer(pointers, 0, elf_dynamic_value(pointers->image, DT_INIT, 0));
    add_pointer(pointers, 0, elf_dynamic_value(pointers->image, DT_FINI, 0));
}

enum flow_doubt elf_copy_doubt(const struct elf_code *elf, const struct elf_image *image,
                               const struct function *function)
{
    /* V8 describes some of its builtins, by which it is entered: it still knows frames by where
       their code is. */
    if (function->address - elf->generated.address < elf->generated.size)
        return FLOW_UNMOVABLE;
    /* What is overwritten in the middle (elf_memory_lock_stubs.h) would not be in the copy. */
    for (size_t i = 0; i < elf->locks.count; i++)
        if (elf->locks.items[i] >= function->address && elf->locks.items[i] < function->end)
            return FLOW_UNMOVABLE;
    return elf_copy_frames_can(elf, image, function) ? FLOW_CERTAIN : FLOW_FRAMES;
}

void elf_copy_source(struct copy_source *source, const struct elf_code *elf,
                     const struct elf_image *image)
{
    struct pointers pointers = {source, elf, image};

    add_relocations(&pointers, elf_relocations(image));
    add_relocations(&pointers, elf_plt_relocations(image));
    add_symbols(&pointers);
    elf_packed_visit(image, add_packed, &pointers);
    for (size_t i = 0; elf->code.has_absolute_code && i < elf->code.data_count; i++)
        add_words(&pointers, &elf->code.data[i]);
    source->pads = lsda_pads(image, &elf->frame, &source->pad_count);
}
