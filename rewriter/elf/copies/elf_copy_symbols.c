#include "rewriter/elf/copies/elf_copy_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"
#include "support/sorted.h"

/* A symbol table of the original. */
struct source {
    struct elf_table symbols, strings;
    size_t section; /* its index */
    size_t locals;  /* symbols in front of the first that is not local; at least one */
};

static bool read_table(struct source *source, const struct elf_image *image)
{
    for (size_t i = 0; i < image->section_count; i++) {
        const Elf64_Shdr *section = &image->sections[i];
        size_t count = section->sh_size / sizeof(Elf64_Sym);

        if (section->sh_type != SHT_SYMTAB)
            continue;
        if (section->sh_entsize != sizeof(Elf64_Sym) || section->sh_offset > image->size ||
            section->sh_size > image->size - section->sh_offset)
            return false;
        *source = (struct source){.symbols = {image->bytes + section->sh_offset, count, image},
                                  .section = i,
                                  .locals = section->sh_info ? section->sh_info : 1};
        elf_static_symbols(image, &source->strings);
        return source->locals <= count;
    }
    return false;
}

/* Whether another section has indexes of symbols of this one. Relocations that are loaded have
   none: a static program's name no symbols. */
static bool is_counted(const struct elf_image *image, size_t table)
{
    for (size_t i = 0; i < image->section_count; i++) {
        uint32_t type = image->sections[i].sh_type;

        if (image->sections[i].sh_link == table && !(image->sections[i].sh_flags & SHF_ALLOC) &&
            (type == SHT_REL || type == SHT_RELA || type == SHT_GROUP || type == SHT_SYMTAB_SHNDX))
            return true;
    }
    return false;
}

/* The place of the copy of the function that begins there; the count of all if there is none. */
static size_t copy_of(const struct copy_set *copies, const struct function_list *functions,
                      uint64_t address)
{
    size_t found = partition_point(i, copies->count,
                                   functions->items[copies->items[i].function].address < address);

    return found < copies->count &&
                   functions->items[copies->items[found].function].address == address
               ? found
               : copies->count;
}

/* The most public of several names of a function is taken. */
static unsigned rank_of(const Elf64_Sym *symbol)
{
    switch (ELF64_ST_BIND(symbol->st_info)) {
    case STB_GLOBAL:
        return 3;
    case STB_WEAK:
        return 2;
    default:
        return 1;
    }
}

/* The symbols of copies. */
struct added {
    Elf64_Sym *symbols; /* of each copy, or one of st_name 0 */
    size_t count;
    size_t main; /* index of the original's in the table; 0: there is none, or it has no copy */
    size_t main_copy;
};

static bool is_main(const struct source *source, size_t index, const Elf64_Sym *symbol)
{
    const char *name = elf_string(source->strings, symbol->st_name);

    return index >= source->locals && name && strcmp(name, "main") == 0;
}

static void make_symbols(struct added *added, const struct copy_set *copies,
                         const struct function_list *functions, const struct source *source,
                         size_t stubs)
{
    Elf64_Sym *symbols = memory_zeroed(copies->count + 1, sizeof(*symbols));
    uint8_t *ranks = memory_zeroed(copies->count + 1, sizeof(*ranks));

    *added = (struct added){.symbols = symbols, .count = copies->count};

    for (size_t i = 1; i < source->symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(source->symbols, i);
        size_t place = copy_of(copies, functions, symbol.st_value);
        const struct copy *copy;

        if (place == copies->count || symbol.st_shndx == SHN_UNDEF || !symbol.st_name ||
            ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || rank_of(&symbol) <= ranks[place])
            continue;
        copy = &copies->items[place];
        ranks[place] = (uint8_t)rank_of(&symbol);
        symbols[place] = (Elf64_Sym){.st_name = symbol.st_name,
                                     .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
                                     .st_shndx = (Elf64_Half)stubs,
                                     .st_value = copy->address + copy->body,
                                     .st_size = copy->size - copy->body};
        if (is_main(source, i, &symbol)) {
            added->main = i;
            added->main_copy = place;
        }
    }
    free(ranks);
}

static void append_as(struct buffer *tail, Elf64_Sym symbol, unsigned binding)
{
    symbol.st_info = ELF64_ST_INFO(binding, ELF64_ST_TYPE(symbol.st_info));
    buffer_append(tail, &symbol, sizeof(symbol));
}

/* Returns how many there are. */
static size_t append_locals(struct buffer *tail, const struct added *added,
                            const struct source *source)
{
    size_t named = 0;

    for (size_t i = 0; i < added->count; i++) {
        bool is_main = added->main && i == added->main_copy;

        if (!added->symbols[i].st_name)
            continue;
        append_as(tail, is_main ? elf_symbol(source->symbols, added->main) : added->symbols[i],
                  STB_LOCAL);
        named++;
    }
    return named;
}

static void append_globals(struct buffer *tail, const struct added *added,
                           const struct source *source)
{
    for (size_t i = source->locals; i < source->symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(source->symbols, i);

        if (added->main && i == added->main)
            append_as(tail, added->symbols[added->main_copy], STB_GLOBAL);
        else
            buffer_append(tail, &symbol, sizeof(symbol));
    }
}

static void set_header(Elf64_Shdr *header, uint64_t offset, uint64_t size, size_t locals)
{
    header->sh_offset = offset;
    header->sh_size = size;
    header->sh_info = (Elf64_Word)locals;
}

void elf_copy_symbols_add(const struct elf_image *image, const struct copy_set *copies,
                          const struct function_list *functions, size_t stubs, struct buffer *tail,
                          uint64_t tail_offset, struct buffer *headers)
{
    size_t at, count;
    struct source source;
    struct added added;

    if (!read_table(&source, image) || is_counted(image, source.section) || stubs >= SHN_LORESERVE)
        return;
    make_symbols(&added, copies, functions, &source, stubs);
    at = buffer_align(tail, 8, 0);
    buffer_append(tail, source.symbols.bytes, source.locals * sizeof(*added.symbols));
    count = append_locals(tail, &added, &source);
    append_globals(tail, &added, &source);
    set_header((Elf64_Shdr *)(void *)headers->bytes + source.section, tail_offset + at,
               tail->size - at, source.locals + count);
    free(added.symbols);
}
