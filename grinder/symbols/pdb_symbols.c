/* Names of functions in a PDB: public symbols as the linker saw them, procedures as the compiler
   did. */
#include <stdlib.h>
#include <string.h>

#include "grinder/image/symbols.h"
#include "grinder/symbols/pdb_file.h"
#include "support/memory.h"

struct adding {
    struct symbol_table *table;
    const struct pdb_file *pdb;
    uint64_t image_base;
};

static void add_symbol(const struct adding *adding, uint32_t section, uint32_t offset,
                       const char *name, enum symbol_rank rank)
{
    uint32_t rva = pdb_rva(adding->pdb, section, offset);

    if (rva && *name)
        symbol_table_add(adding->table, adding->image_base + rva, name, rank);
}

/* The record is whole, and a zero is somewhere behind it. */
static void add_record(const struct adding *adding, const char *record, size_t size, uint16_t kind)
{
    struct public_symbol public;
    struct procedure_symbol procedure;
    struct thunk_symbol thunk;

    switch (kind) {
    case SYMBOL_PUBLIC:
        if (size <= sizeof(public))
            break;
        memcpy(&public, record, sizeof(public));
        if (public.flags & (PUBLIC_CODE | PUBLIC_FUNCTION))
            add_symbol(adding, public.section, public.offset, record + sizeof(public), RANK_GLOBAL);
        break;
    case SYMBOL_PROCEDURE:
    case SYMBOL_LOCAL_PROCEDURE:
    case SYMBOL_PROCEDURE_ID:
    case SYMBOL_LOCAL_PROCEDURE_ID:
        if (size <= sizeof(procedure))
            break;
        memcpy(&procedure, record, sizeof(procedure));
        add_symbol(adding, procedure.section, procedure.offset, record + sizeof(procedure),
                   RANK_PROCEDURE);
        break;
    case SYMBOL_THUNK:
        if (size <= sizeof(thunk))
            break;
        memcpy(&thunk, record, sizeof(thunk));
        add_symbol(adding, thunk.section, thunk.offset, record + sizeof(thunk), RANK_LOCAL);
        break;
    }
}

static void add_records(const struct adding *adding, const char *bytes, size_t from, size_t to)
{
    uint16_t words[2]; /* size, kind */

    for (size_t at = from; at < to && to - at >= sizeof(words);) {
        size_t size;
        memcpy(words, bytes + at, sizeof(words));
        size = words[0] + sizeof(words[0]);
        if (size < sizeof(words) || size > to - at)
            return;
        add_record(adding, bytes + at, size, words[1]);
        at += size;
    }
}

static void add_stream(const struct adding *adding, uint32_t number, size_t from, size_t to)
{
    struct pdb_stream stream = pdb_stream_read(adding->pdb, number);

    if (!stream.bytes)
        return;
    symbol_table_own(adding->table, stream.bytes);
    add_records(adding, stream.bytes, from, to < stream.size ? to : stream.size);
}

void pdb_symbols_add(struct symbol_table *table, const struct pdb_file *pdb, uint64_t image_base)
{
    const struct adding adding = {table, pdb, image_base};
    unsigned char *seen = memory_zeroed(PDB_NO_STREAM + 1, 1);

    add_stream(&adding, pdb->dbi.symbols, 0, SIZE_MAX);
    for (size_t i = 0; i < pdb->module_count; i++) {
        const struct pdb_module *module = &pdb->modules[i];
        if (module->stream == PDB_NO_STREAM || seen[module->stream]++)
            continue;
        add_stream(&adding, module->stream, sizeof(uint32_t), module->symbols_size);
    }
    free(seen);
}
