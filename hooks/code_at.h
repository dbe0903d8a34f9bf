/* Whose code is at an address. */
#ifndef UMBRA_HOOKS_CODE_AT_H
#define UMBRA_HOOKS_CODE_AT_H

#include <stdbool.h>
#include <stdint.h>

struct image_header;

struct code_at {
    uint32_t function; /* number, without its flags; 0: of no function that is known */
    bool is_copy;
    bool is_added; /* in what `instrument` has added to an image: a copy, a stub */
};

/* May be called in a signal handler. */
struct code_at code_at(uint64_t address);

/* Is this code that `instrument` has put in to count calls? */
bool code_is_counting(uint64_t address);

/* Does a hooked function of the image begin at an address of the image? */
bool code_is_entry(const struct image_header *image, uint64_t address);

#endif
