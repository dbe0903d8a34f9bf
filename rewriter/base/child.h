/* A child process for libraries that hostile files make crash, hang or grow. */
#ifndef UMBRA_REWRITER_CHILD_H
#define UMBRA_REWRITER_CHILD_H

#include <stdint.h>

/*
 * To be called in the child, first of all: silent, without the parent's signal handlers, with
 * `memory` bytes of address space on top of what it inherited and `seconds` of processor time, and
 * killed after twice as many by the clock, or with its parent; and confined: should a hostile
 * file take the library over, it can read files and change what the library reports.
 */
void child_begin(uint64_t memory, uint64_t seconds);

#endif
