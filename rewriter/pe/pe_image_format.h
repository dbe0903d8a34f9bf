/* PE as a format of images. */
#ifndef UMBRA_REWRITER_PE_IMAGE_FORMAT_H
#define UMBRA_REWRITER_PE_IMAGE_FORMAT_H

#include "rewriter/format/image_format.h"

extern const struct image_format image_format_pe;
extern const struct image_format image_format_pe32; /* of i386 */

#endif
