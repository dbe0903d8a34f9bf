/* The formats of images. The one a file has is told by its first bytes, here and nowhere else. */
#ifndef UMBRA_REWRITER_IMAGE_FORMATS_H
#define UMBRA_REWRITER_IMAGE_FORMATS_H

#include "rewriter/format/image_format.h"

/* Never null: what is no image is refused by the ELF reader, with its reason. */
const struct image_format *image_format_of(const uint8_t *bytes, size_t size);

/* Opens a file as an image of its format. Keeps the input; image_close ends it before that. */
bool image_open(struct image *image, const struct input_file *input, struct failure *failure);
void image_close(struct image *image);

#endif
