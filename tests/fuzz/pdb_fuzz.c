/* The grinder's reading of a PDB: its streams, the names and lines in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/image/symbols.h"
#include "grinder/symbols/lines.h"
#include "grinder/symbols/pdb_file.h"
#include "tests/fuzz/harness.h"

#define BASE      0x180000000ull
#define ADDRESSES 1024 /* the code of the seed, every byte, and as much behind it */

static void read_symbols(const struct pdb_file *pdb)
{
    struct symbol_table symbols = {0};
    size_t sum = 0;

    pdb_symbols_add(&symbols, pdb, BASE);
    symbol_table_sort(&symbols);
    for (size_t i = 0; i < symbols.count; i++)
        sum += strlen(symbols.symbols[i].name);
    if (sum > pdb->file.size * (symbols.count + 1))
        abort();
    symbol_table_free(&symbols);
}

static void read_lines(const struct pdb_file *pdb)
{
    uint64_t *addresses = malloc(ADDRESSES * sizeof(*addresses));
    struct line_table table;

    if (!addresses)
        abort();
    for (size_t i = 0; i < ADDRESSES; i++)
        addresses[i] = BASE + 0x1000 + i;
    line_table_begin(&table, addresses, ADDRESSES);
    pdb_lines_read(&table, pdb, BASE);
    for (size_t i = 0; i < table.count; i++)
        if (table.lines[i].file >= table.file_count)
            abort();
    line_table_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memory_file(data, size);
    struct pdb_file pdb;
    struct failure failure = {""};
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    if (!pdb_open(&pdb, path, &failure)) {
        check_refusal(failure.text);
    } else {
        read_symbols(&pdb);
        read_lines(&pdb);
        pdb_close(&pdb);
    }
    close(file);
    return 0;
}
