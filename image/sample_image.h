/*
 * For tests: a small instrumented ELF image in memory.
 *
 *      0x0000  ELF header, program headers     RX, as far as the code goes
 *      0x0200  function                        jmp rel32, which it did not begin with
 *      0x1000  original's end
 *      0x1000  image_header, image_manifest    RW
 */
#ifndef UMBRA_IMAGE_SAMPLE_IMAGE_H
#define UMBRA_IMAGE_SAMPLE_IMAGE_H

#include <elf.h>

#include "support/bounded_file.h"
#include "trace/image_manifest.h"

#define SAMPLE_FUNCTION 0x200
#define SAMPLE_ADDED    0x1000
#define SAMPLE_COPY     0x2000 /* RVA that the manifest has for the function's copy */

/* Behind SAMPLE_ADDED. */
struct sample_added {
    struct image_header header;
    struct image_manifest head;
    struct manifest_function functions[2]; /* the function, and an import's slot */
    struct manifest_change changes[1];     /* of the ELF header */
    struct manifest_import imports[1];
    struct manifest_copy copies[2]; /* of the function; the second is not counted */
    struct manifest_site sites[2];  /* of the same call in it */
    struct manifest_stretch stretches[2];
    struct manifest_block blocks[3]; /* of the function; the second is padding */
    struct manifest_way ways[3];     /* of these, which way_count says there are none of */
    char name[8], path[16];
};

struct sample_image {
    union {
        uint8_t bytes[SAMPLE_ADDED];
        struct {
            Elf64_Ehdr header;
            Elf64_Phdr segments[2];
        };
    };
    struct sample_added added;
};

/* Makes it whole; `original`, what undoing it gives. */
void sample_image_make(struct sample_image *image, uint8_t original[SAMPLE_ADDED]);
struct bounded_file sample_image_file(const struct sample_image *image);

#endif
