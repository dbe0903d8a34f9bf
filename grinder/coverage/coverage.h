/*
 * Which basic blocks ran (`instrument --count=blocks --once`), of all images in all traces that are
 * added: a block ran if it did so in one of them.
 *
 *      traces       bytes of an image's blocks   --+
 *      manifest     where each block is          --+-->  functions: blocks, and how many of them ran
 *      debug info   lines of its instructions    --+     lines of files: whether one of their
 *                                                        instructions ran
 */
#ifndef UMBRA_GRINDER_COVERAGE_H
#define UMBRA_GRINDER_COVERAGE_H

#include "grinder/profile/images.h"

struct covered_function {
    uint32_t function; /* as images.h numbers it */
    uint32_t blocks, ran;
};

struct covered_line {
    const char *file;
    uint32_t line;
    bool ran;
};

struct coverage {
    bool images_are_known; /* set by the caller: what is wrong with images was said, and is not said again */
    struct images images;
    uint8_t **ran; /* by image: a byte for each block of its manifest; null: none was in a trace */
    uint32_t *block_hashes; /* of each of them: which blocks these are */
    size_t room;            /* of both */
    size_t processes;
    struct covered_function *functions; /* that have blocks: ascending by image and address */
    size_t function_count, function_room;
    struct covered_line *lines; /* ascending by file and line, each once */
    size_t line_count, line_room;
    uint64_t blocks, blocks_ran;
    uint64_t not_copied; /* functions of the same images that are hooked, and have no blocks */
};

/* Whether the functions of an image note which of their blocks ran. */
bool coverage_is_noted(const struct images *images);

void coverage_begin(struct coverage *coverage);
void coverage_free(struct coverage *coverage);

/* Adds what ran in the process that left the trace. False: it cannot be read. */
bool coverage_add(struct coverage *coverage, const char *path, struct failure *failure);

/* Once all are added: fills in functions and lines, and names. debug_dirs ends with null. */
void coverage_resolve(struct coverage *coverage, const char *const *debug_dirs);

#endif
