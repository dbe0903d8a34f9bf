/* Import and delay-import directories: the slots that code calls other images' functions through.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/image/pe_file.h"
#include "grinder/image/symbols.h"
#include "support/memory.h"

#define MAX_LIBRARIES 4096u
#define MAX_NAME      1024u
#define ENTRY_SIZE    64u /* of memory for a symbol, about, its name apart */

/* Sections are read when they are first needed. Damaged ones may overlap: no more is read of all
   of them than the file holds. */
struct imports {
    struct symbol_table *table;
    const struct pe_file *pe;
    char **sections;
    uint64_t bytes_left;
    uint64_t room_left; /* for names, which may all be the same one in the file */
};

/* size bytes at rva, and a zero somewhere behind them; null if they are not in the file. */
static const char *at_rva(struct imports *imports, uint32_t rva, uint32_t size)
{
    const struct pe_file_section *section = pe_section_at(imports->pe, rva);
    size_t number = section ? (size_t)(section - imports->pe->sections) : 0;

    if (!section || size > section->size - (rva - section->rva))
        return NULL;
    if (!imports->sections[number]) {
        if (section->size > imports->bytes_left)
            return NULL;
        imports->bytes_left -= section->size;
        imports->sections[number] = pe_section_read(imports->pe, section);
    }
    return imports->sections[number] ? imports->sections[number] + (rva - section->rva) : NULL;
}

/* library!function, or library!ordinal7. */
static char *make_name(struct imports *imports, const char *library, uint64_t entry)
{
    uint64_t by_ordinal =
        imports->pe->word == sizeof(uint32_t) ? PE_IMPORT_BY_ORDINAL_32 : PE_IMPORT_BY_ORDINAL;
    char text[2 * MAX_NAME + 32];
    const char *name;

    if (entry & by_ordinal) {
        snprintf(text, sizeof(text), "%.*s!ordinal%u", (int)MAX_NAME, library,
                 (unsigned)(entry & 0xffff));
    } else {
        name = at_rva(imports, (uint32_t)entry + 2, 1); /* behind a hint */
        if (!name || !*name)
            return NULL;
        snprintf(text, sizeof(text), "%.*s!%.*s", (int)MAX_NAME, library, (int)MAX_NAME, name);
    }
    if (strlen(text) + ENTRY_SIZE >= imports->room_left)
        return NULL;
    imports->room_left -= strlen(text) + ENTRY_SIZE;
    return memory_copy_string(text);
}

/* lookup leads to what the slots are to be bound to, entry by entry, up to a zero. */
static void add_library(struct imports *imports, uint32_t name, uint32_t lookup, uint32_t slots)
{
    const char *library = at_rva(imports, name, 1), *bytes;
    uint32_t size = imports->pe->word;
    uint64_t entry = 0;
    char *text;

    if (!library)
        return;
    for (uint32_t at = 0; (bytes = at_rva(imports, lookup + at, size)); at += size) {
        memcpy(&entry, bytes, size);
        if (!entry || !(text = make_name(imports, library, entry)))
            return;
        symbol_table_own(imports->table, text);
        symbol_table_add(imports->table, imports->pe->image_base + slots + at, text, RANK_IMPORT);
    }
}

/* Copies out the entry of that size at the place in a directory; false if it is not in the file. */
static bool entry_at(struct imports *imports, uint32_t directory, uint32_t place, void *entry,
                     size_t size)
{
    uint32_t rva = imports->pe->directories[directory].rva + place * (uint32_t)size;
    const char *bytes = at_rva(imports, rva, (uint32_t)size);

    if (bytes)
        memcpy(entry, bytes, size);
    return bytes;
}

static void add_imports(struct imports *imports)
{
    struct pe_import library;

    for (uint32_t i = 0; i < MAX_LIBRARIES; i++) {
        if (!entry_at(imports, PE_IMPORTS, i, &library, sizeof(library)) || !library.slots)
            return;
        add_library(imports, library.name, library.lookup ? library.lookup : library.slots,
                    library.slots);
    }
}

static void add_delay_imports(struct imports *imports)
{
    struct pe_delay_import library;

    for (uint32_t i = 0; i < MAX_LIBRARIES; i++) {
        if (!entry_at(imports, PE_DELAY_IMPORTS, i, &library, sizeof(library)) || !library.slots)
            return;
        if (library.attributes & PE_DELAY_BY_RVA)
            add_library(imports, library.name, library.lookup, library.slots);
    }
}

void pe_imports_add(struct symbol_table *table, const struct pe_file *pe)
{
    struct imports imports = {
        .table = table,
        .pe = pe,
        .sections = memory_zeroed(pe->section_count, sizeof(*imports.sections)),
        .bytes_left = pe->file.size,
        .room_left = 4 * pe->file.size,
    };

    if (pe->directories[PE_IMPORTS].rva)
        add_imports(&imports);
    if (pe->directories[PE_DELAY_IMPORTS].rva)
        add_delay_imports(&imports);
    for (size_t i = 0; i < pe->section_count; i++)
        free(imports.sections[i]);
    free(imports.sections);
}
