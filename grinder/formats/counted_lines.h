/* Instructions of functions by line, where blocks were counted beside calls. */
#ifndef UMBRA_GRINDER_COUNTED_LINES_H
#define UMBRA_GRINDER_COUNTED_LINES_H

#include "grinder/coverage/coverage.h"
#include "grinder/profile/symbolize.h"

struct counted_line {
    uint32_t function;
    struct place place; /* in its function's file: of that file's number; else of one past those of images */
    uint64_t instructions;
};

struct counted_lines {
    struct counted_line *lines; /* ascending by function, file and line, each once */
    size_t count, room;
    uint32_t file_count; /* one more than the largest file_number */
};

/* The lines of functions that are in images, too. coverage is resolved, and outlives the lines; null: there are none. */
void counted_lines_find(struct counted_lines *lines, const struct coverage *coverage,
                        const struct images *images);
void counted_lines_free(struct counted_lines *lines);

/* Those of a function, `count`, and their sum. */
const struct counted_line *counted_lines_of(const struct counted_lines *lines, uint32_t function,
                                            size_t *count, uint64_t *sum);

#endif
