#include "rewriter/elf/copies/elf_copy_exports.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

/* Up to the last symbol's chain word; size 0 if it is not as linkers write it: the last symbol ends
   the last chain. */
static struct elf_span hash_place(const struct elf_image *image)
{
    uint64_t address = elf_dynamic_value(image, DT_GNU_HASH, 0), size;
    const uint8_t *table = address ? elf_at(image, address, 16) : NULL;
    uint32_t words[4], last; /* buckets, first symbol, words of the filter, its shift */

    if (!table)
        return (struct elf_span){0};
    memcpy(words, table, sizeof(words));
    if (words[0] == 0 || words[1] >= image->symbol_count)
        return (struct elf_span){0};
    size = 16 + words[2] * (uint64_t)image->class->word + words[0] * 4ull +
           (image->symbol_count - words[1]) * 4ull;
    table = elf_at(image, address, size);
    if (!table)
        return (struct elf_span){0};
    memcpy(&last, table + size - 4, sizeof(last));
    return last & 1 ? (struct elf_span){address, size} : (struct elf_span){0};
}

static bool is_exported(const Elf64_Sym *symbol)
{
    unsigned bind = ELF64_ST_BIND(symbol->st_info);

    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
           symbol->st_shndx != SHN_ABS && (bind == STB_GLOBAL || bind == STB_WEAK);
}

void elf_exports_find(struct elf_exports *exports, const struct elf_image *image,
                      const struct function_list *functions, const struct copy_plan *copies)
{
    struct elf_table symbols = elf_dynamic_symbols(image);
    bool *is_there;

    *exports = (struct elf_exports){.image = image};
    if (copies->count == 0 || (elf_dynamic(image, DT_GNU_HASH) && !hash_place(image).size))
        return;
    is_there = memory_zeroed(functions->count, sizeof(*is_there));
    exports->items = memory_zeroed(functions->count, sizeof(*exports->items));
    for (size_t i = 1; i < symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(symbols, i);
        const struct function *function = function_list_at(functions, symbol.st_value);
        size_t place = function ? (size_t)(function - functions->items) : 0;

        if (!function || !is_exported(&symbol) || !copy_plan_has(copies, place) || is_there[place])
            continue;
        is_there[place] = true;
        exports->items[exports->count++] = (struct elf_export){(uint32_t)i, (uint32_t)place};
    }
    free(is_there);
}

Elf64_Sym elf_export_symbol(const struct elf_exports *exports, size_t i,
                            const struct copy_set *copies, size_t section)
{
    const struct elf_export *export = &exports->items[i];
    const struct copy *copy = copy_set_of(copies, export->function);
    Elf64_Sym symbol = elf_symbol(elf_dynamic_symbols(exports->image), export->symbol);

    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_other = STV_DEFAULT;
    /* Readers of the file tell its place there by the section; the loader asks for none. */
    if (exports->image->section_names)
        symbol.st_shndx = (Elf64_Half)section;
    symbol.st_value = copy ? copy->address + copy->body : 0;
    symbol.st_size = copy ? copy->size - copy->body : 0;
    return symbol;
}

struct elf_span elf_exports_hash(const struct elf_exports *exports)
{
    return exports->count ? hash_place(exports->image) : (struct elf_span){0};
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;

    for (; name && *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

void elf_exports_chain(const struct elf_exports *exports, uint8_t *table, uint64_t size,
                       const char *hook)
{
    struct elf_table symbols = elf_dynamic_symbols(exports->image);
    uint8_t *at = table + size - (exports->count + 1) * 4;
    uint32_t word;

    memcpy(&word, at - 4, sizeof(word));
    word &= ~1u;
    memcpy(at - 4, &word, sizeof(word));
    word = ~hash_of(hook) & ~1u;
    memcpy(at, &word, sizeof(word));
    for (size_t i = 0; i < exports->count; i++) {
        Elf64_Sym symbol = elf_symbol(symbols, exports->items[i].symbol);

        at += 4;
        word = ~hash_of(elf_dynamic_string(exports->image, symbol.st_name)) & ~1u;
        word |= i + 1 == exports->count;
        memcpy(at, &word, sizeof(word));
    }
}
