/*
 * Which basic blocks ran (`instrument --count=blocks --once`), or how often (without --once), of all images in
 * all traces that are added, which add up.
 *
 *      traces       bytes, or words, of blocks   --+
 *      manifest     where each block is          --+-->  functions: blocks, how many of them ran,
 *      debug info   lines of its instructions    --+     and how many instructions
 *                                                        lines of files: how often they ran
 */
#ifndef UMBRA_GRINDER_COVERAGE_H
#define UMBRA_GRINDER_COVERAGE_H

#include "grinder/profile/images.h"

struct covered_function {
    uint32_t function; /* as images.h numbers it */
    uint32_t blocks, ran;
    uint64_t calls; /* how often its first block ran */
    uint64_t instructions;
    size_t spots; /* of `spots` below: those behind the functions' before */
};

struct covered_line {
    const char *file;
    uint32_t line;
    uint64_t hits; /* of the instruction that ran most often */
};

/* An instruction of a block. */
struct covered_spot {
    uint64_t place; /* image << 32 | rva */
    uint64_t hits;
};

/* What is known of an image's blocks. */
struct covered_image {
    uint64_t *words;  /* of each byte or word of its cover; null: none was in a trace */
    uint64_t *counts; /* once counted, of each block of its manifest; where these are not counted 1 if it ran */
    uint32_t block_hash; /* which blocks these are */
    uint32_t cover_size; /* bytes of its cover */
};

struct coverage {
    bool images_are_known; /* set by the caller: what is wrong with images was said, and is not said again */
    struct images images;
    struct covered_image *covered; /* by image */
    size_t room;
    bool is_counted;        /* blocks of an image are: else hits, calls and instructions are 1 or 0 */
    size_t processes;
    struct covered_function *functions; /* that have blocks: ascending by image and address */
    size_t function_count, function_room;
    struct covered_line *lines; /* ascending by file and line, each once */
    size_t line_count, line_room;
    struct covered_spot *spots; /* ascending */
    size_t spot_count, spot_room;
    uint64_t blocks, blocks_ran, instructions;
    uint64_t not_copied; /* functions of the same images that are hooked, and have no blocks */
};

/* Whether the functions of an image note which of their blocks ran. */
bool coverage_is_noted(const struct images *images);

/* Whether those of an image note how often each of their blocks ran. */
bool coverage_has_counts(const struct images *images);

void coverage_begin(struct coverage *coverage);
void coverage_free(struct coverage *coverage);

/* Adds what ran in the process that left the trace. False: it cannot be read. */
bool coverage_add(struct coverage *coverage, const char *path, struct failure *failure);

/* Once all are added: fills in functions and instructions. */
void coverage_count(struct coverage *coverage);

/* That, and lines, and names. debug_dirs ends with null. */
void coverage_resolve(struct coverage *coverage, const char *const *debug_dirs);

#endif
