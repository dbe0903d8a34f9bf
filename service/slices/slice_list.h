/*
 * Slices of a run, no more than were asked for: when there are as many, each two become one.
 *
 *      | 10 ms | 10 ms | … 200 of them     ->     | 20 ms | 20 ms | … 100 of them
 */
#ifndef UMBRA_SERVICE_SLICE_LIST_H
#define UMBRA_SERVICE_SLICE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/slice_format.h"

/* An entry of slice_format.h, but not yet coded. */
struct slice_entry {
    uint32_t thread, function;
    int64_t self, total;
    uint64_t calls;
};

struct slice_part {
    uint64_t end_ticks;
    struct slice_entry *entries; /* ascending by thread and function, without doubles */
    size_t count;
};

struct slice_list {
    struct slice_part *parts;
    size_t count, limit;
    size_t entry_count; /* of all */
    unsigned doublings; /* how often two became one */
};

/* limit: at least 2. Returns false, errno set, if there is no memory; so do those below. */
bool slice_list_open(struct slice_list *list, size_t limit);
void slice_list_close(struct slice_list *list);

/* Sorts entries, adds up those of the same thread and function, and makes a slice of a copy. */
bool slice_list_add(struct slice_list *list, uint64_t end_ticks, struct slice_entry *entries,
                    size_t count);

/* The file's content, to be freed; what the header has of the trace is the caller's to say. */
unsigned char *slice_list_code(const struct slice_list *list, struct slices_header *header,
                               size_t *size);

#endif
