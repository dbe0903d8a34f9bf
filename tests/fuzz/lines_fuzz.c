/* The grinder's reading of what the child that reads DWARF tells: it may have been taken over. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/symbols/lines.h"
#include "support/utf8.h"
#include "tests/fuzz/harness.h"

enum { ADDRESSES = 64, FIRST_PLAIN = 48 }; /* the last ones are no spots */

static void check_inlined(const struct line_table *table, const struct inlined *inlined)
{
    uint32_t depth = inlined ? inlined->depth : 0;

    if (depth > LINES_MAX_DEPTH)
        abort();
    for (; inlined; inlined = inlined->outer)
        if (inlined->depth != depth-- || inlined->call.file >= table->file_count ||
            !*inlined->name || !utf8_is_plain(inlined->name))
            abort();
    if (depth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t *addresses = calloc(ADDRESSES, sizeof(*addresses));
    int pipe = memory_file(data, size);
    struct line_table table;
    struct failure failure = {""};

    if (!addresses)
        abort();
    for (uint64_t i = 0; i < ADDRESSES; i++)
        addresses[i] = i;
    line_table_begin(&table, addresses, ADDRESSES);
    for (uint64_t i = 0; i < FIRST_PLAIN; i++)
        line_table_add_spot(&table, i);
    lseek(pipe, 0, SEEK_SET);
    if (!line_table_take(&table, pipe, &failure))
        check_refusal(failure.text);
    for (uint64_t i = 0; i < ADDRESSES; i++) {
        const struct inlined *inlined = line_table_inlined(&table, i);
        if (line_table_find_spot(&table, i).file >= table.file_count ||
            (i >= FIRST_PLAIN && inlined))
            abort();
        check_inlined(&table, inlined);
    }
    line_table_free(&table);
    close(pipe);
    return 0;
}
