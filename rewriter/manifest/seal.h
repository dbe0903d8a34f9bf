/*
 * The seal of an instrumented image: XXH3 64 of the whole file, in which the seal's own 8 bytes
 * count as zero. It tells what was added behind the original from what came later.
 */
#ifndef UMBRA_REWRITER_SEAL_H
#define UMBRA_REWRITER_SEAL_H

#include "rewriter/base/output_file.h"

/* `field` is the seal's offset; its 8 bytes lie within the file. */
uint64_t seal_of(const uint8_t *bytes, size_t size, uint64_t field);

/* Reads the file back and puts the seal in. To be called when all else is written. */
bool seal_output(struct output_file *output, uint64_t field, struct failure *failure);

#endif
