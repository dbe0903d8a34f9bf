/*
 * How often each place was found: what becomes NAME.samples (trace/sample_format.h). The entries
 * are the slots of a hash table with open addressing, half of them empty at least; an empty one has
 * the count 0.
 */
#ifndef UMBRA_SERVICE_SAMPLE_TABLE_H
#define UMBRA_SERVICE_SAMPLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/sample_format.h"

#define SAMPLE_TABLE_LIMIT 65536 /* entries */

struct sample_table {
    struct sample *slots;
    size_t room; /* of slots, a power of two; 0 before the first sample */
    size_t count;
    uint64_t taken; /* sum of the counts */
};

/* All zero is an empty table. */
void sample_table_close(struct sample_table *table);

/* Returns false if there is no room for one more place. */
bool sample_table_add(struct sample_table *table, uint32_t tid, uint64_t address, uint64_t caller);

/*
 * The content of a file, to be freed; *size is its length. Takes from header what the table does
 * not know, fills in the rest. The table is empty from then on. Returns null without memory.
 */
unsigned char *sample_table_code(struct sample_table *table, struct samples_header *header,
                                 size_t *size);

#endif
