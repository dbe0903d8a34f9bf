/*
 * What `instrument --list` prints of functions: a table, tab-separated under a header line, or
 * JSON; a row each, or with a summary a row for each state and reason, and the sums.
 */
#ifndef UMBRA_REWRITER_LIST_H
#define UMBRA_REWRITER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIST_REASONS 256

/* {.is_summary = ..., .is_json = ...} before list_begin. */
struct list {
    bool is_summary, is_json;
    size_t count; /* of functions so far */
    struct list_sum {
        size_t functions;
        uint64_t bytes;
    } sums[LIST_REASONS];
};

struct listed {
    uint64_t address, size;
    uint8_t reason;
    const char *name; /* may be null */
    bool is_import;
};

void list_begin(struct list *list);
void list_function(struct list *list, const struct listed *listed);
void list_end(const struct list *list);

#endif
