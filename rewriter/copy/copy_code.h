/* Code that stands in copies besides the original's: bytes, with holes to fill in (copy_code.S). */
#ifndef UMBRA_REWRITER_COPY_CODE_H
#define UMBRA_REWRITER_COPY_CODE_H

/* What goes into the four bytes of a hole. */
#define HOLE_WORD   0 /* distance of a word of the hook word's page: `value`, its offset there */
#define HOLE_STUB   1 /* distance of what follows the jump at the start of the function's stub */
#define HOLE_HEADER 2 /* distance of the image header from the key */
#define HOLE_INDEX  3 /* the function's number, as in a stub */
#define HOLE_BODY   4 /* distance of the stub's body from the key */
#define HOLE_SHARED                                                                                \
    5 /* distance of code that the image's copies share: its offset there, `value` */

#define HOLE_IMAGE 6 /* distance of a word of the image header: `value`, its offset there */

#ifndef __ASSEMBLER__

#include <stdint.h>

struct copy_hole {
    uint16_t at; /* offset in the code */
    uint16_t kind;
    uint16_t value;
    uint16_t behind; /* bytes of the instruction behind it */
};

/* From here on the canonical frame address is that far above the stack pointer. */
struct copy_row {
    uint16_t at, cfa;
};

struct copy_code {
    const uint8_t *bytes;
    const struct copy_hole *holes;
    const struct copy_row *rows;
    uint16_t size, hole_count, row_count;
    uint16_t key, entry; /* offsets, of what stands in front of a body */
};

/* What the copies of an image share; what stands in front of a function's first instruction, also
   of a leaf's; what stands in place of `ret`. */
extern const struct copy_code copy_shared, copy_front, copy_front_of_leaf, copy_exit;

#endif
#endif
