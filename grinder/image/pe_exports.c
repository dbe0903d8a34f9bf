/* The export directory: functions by name, or by ordinal alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/image/pe_file.h"
#include "grinder/image/symbols.h"
#include "support/memory.h"

/* A file may claim as many exports without a name as it has room for addresses. */
#define MAX_ORDINALS 65536u

/* The directory lies in one section, strings and all, as every linker has it. */
struct exports {
    const struct pe_file_section *section;
    char *bytes; /* of the section, a zero behind them */
    struct pe_exports directory;
};

/* size bytes at rva; null if they are not in the section. */
static const char *at_rva(const struct exports *exports, uint32_t rva, uint64_t size)
{
    uint32_t at = rva - exports->section->rva;

    if (rva < exports->section->rva || at > exports->section->size ||
        size > exports->section->size - at)
        return NULL;
    return exports->bytes + at;
}

static uint32_t word_at(const char *words, uint32_t place)
{
    uint32_t word;

    memcpy(&word, words + (size_t)place * sizeof(word), sizeof(word));
    return word;
}

/* The export's RVA; 0 if it is none of this image's code: data, or forwarded to another image,
   which is told by an RVA inside the directory. */
static uint32_t code_rva(const struct pe_file *pe, const char *addresses, uint32_t place)
{
    const struct pe_directory *directory = &pe->directories[PE_EXPORTS];
    uint32_t rva = word_at(addresses, place);
    const struct pe_file_section *section = pe_section_at(pe, rva);

    if (rva - directory->rva < directory->size || !section || !section->is_code)
        return 0;
    return rva;
}

static void add_names(struct symbol_table *table, const struct pe_file *pe,
                      const struct exports *exports, const char *addresses, unsigned char *named)
{
    const struct pe_exports *directory = &exports->directory;
    const char *names = at_rva(exports, directory->names, directory->name_count * 4ull);
    const char *indexes = at_rva(exports, directory->ordinals, directory->name_count * 2ull);

    for (uint32_t i = 0; names && indexes && i < directory->name_count; i++) {
        const char *name = at_rva(exports, word_at(names, i), 1);
        uint16_t place;
        uint32_t rva;
        memcpy(&place, indexes + 2ull * i, sizeof(place));
        if (!name || !*name || place >= directory->address_count)
            continue;
        named[place] = 1;
        rva = code_rva(pe, addresses, place);
        if (rva)
            symbol_table_add(table, pe->image_base + rva, name, RANK_EXPORT);
    }
}

static void add_ordinals(struct symbol_table *table, const struct pe_file *pe,
                         const struct exports *exports, const char *addresses,
                         const unsigned char *named, const char *module)
{
    for (uint32_t i = 0; i < exports->directory.address_count && i < MAX_ORDINALS; i++) {
        uint32_t rva = named[i] ? 0 : code_rva(pe, addresses, i);
        char text[512], *name;
        if (!rva)
            continue;
        snprintf(text, sizeof(text), "%.400s!ordinal%u", module,
                 exports->directory.first_ordinal + i);
        name = memory_copy_string(text);
        symbol_table_own(table, name);
        symbol_table_add(table, pe->image_base + rva, name, RANK_ORDINAL);
    }
}

void pe_exports_add(struct symbol_table *table, const struct pe_file *pe, const char *module)
{
    uint32_t rva = pe->directories[PE_EXPORTS].rva;
    struct exports exports = {.section = pe_section_at(pe, rva)};
    const char *directory, *addresses;
    unsigned char *named;

    if (!exports.section || !(exports.bytes = pe_section_read(pe, exports.section)))
        return;
    symbol_table_own(table, exports.bytes);
    directory = at_rva(&exports, rva, sizeof(exports.directory));
    if (!directory)
        return;
    memcpy(&exports.directory, directory, sizeof(exports.directory));
    addresses =
        at_rva(&exports, exports.directory.addresses, exports.directory.address_count * 4ull);
    if (!addresses)
        return;
    named = memory_zeroed(exports.directory.address_count, 1);
    add_names(table, pe, &exports, addresses, named);
    add_ordinals(table, pe, &exports, addresses, named, module);
    free(named);
}
