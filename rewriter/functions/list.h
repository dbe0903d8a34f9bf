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
#define LIST_DOUBTS  32 /* words for why bodies are not copied; further ones are not summed up */

struct list_sum {
    size_t functions;
    uint64_t bytes;
};

/* {.is_summary = ..., .is_json = ..., .has_doubts = ...} before list_begin. */
struct list {
    bool is_summary, is_json;
    bool has_doubts; /* says why hooked functions are not copied: they were to be */
    size_t count;    /* of functions so far */
    struct list_sum sums[LIST_REASONS]; /* of those that are not copied */
    struct list_sum copied;
    struct list_doubt {
        const char *word;
        struct list_sum sum;
    } doubts[LIST_DOUBTS];
    size_t doubt_count;
};

struct listed {
    uint64_t address, size;
    uint8_t reason;
    const char *name; /* may be null */
    bool is_import;
    bool is_copied;    /* its body; it is hooked */
    const char *doubt; /* word for why its body is not copied, good until list_end; null: none */
};

void list_begin(struct list *list);
void list_function(struct list *list, const struct listed *listed);
void list_end(const struct list *list);

#endif
