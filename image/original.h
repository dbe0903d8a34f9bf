/*
 * Restoring an instrumented image's original from the image and its manifest:
 *
 *      functions          `original` of each hooked one is put back where its range has it
 *      changes            `original` of each is put back where the file has it
 *      headers of PE      what they grew by is taken out: all behind them moves back
 *      the end            of the original is at original_size
 *      the proof          XXH3 64 of that is original_hash
 */
#ifndef UMBRA_IMAGE_ORIGINAL_H
#define UMBRA_IMAGE_ORIGINAL_H

#include <stdint.h>

#include "image/loaded_ranges.h"
#include "image/manifest.h"

#define ORIGINAL_GROWTH_LIMIT 65536 /* of a PE image's headers, in bytes */

enum original_problem {
    ORIGINAL_WHOLE,
    ORIGINAL_CUT_OFF,            /* it is longer than the instrumented file */
    ORIGINAL_FUNCTION_ELSEWHERE, /* `where`, an RVA, is not within the original */
    ORIGINAL_CHANGE_ELSEWHERE,   /* `where`, a file offset, is not within the original */
    ORIGINAL_GREW,               /* by `where` bytes, as its headers say */
    ORIGINAL_DIFFERS,            /* all was put back, but the hash is another */
};

struct original_result {
    enum original_problem problem;
    uint64_t where;
};

/* How many bytes of the file, from its start on, original_restore needs; no more than it has. */
uint64_t original_bytes_needed(const struct loaded_ranges *ranges, const struct manifest *manifest,
                               uint64_t file_size);

/*
 * `bytes` are the first ones of the instrumented file, whose ranges and manifest these are; at
 * least original_bytes_needed of them. The first original_size of them become the original, if
 * there is no problem; else they are anything.
 */
struct original_result original_restore(uint8_t *bytes, uint64_t size,
                                        const struct loaded_ranges *ranges,
                                        const struct manifest *manifest);

#endif
