/* What an instrumented file says of the original that it was made of: its manifest. */
#ifndef UMBRA_FRONT_CACHED_IMAGE_H
#define UMBRA_FRONT_CACHED_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

struct cached_origin {
    uint64_t size; /* bytes */
    uint64_t hash; /* XXH3 64 of the content */
    const char *path;
};

/* Whether the file that is open was instrumented, by this version, from such a file. */
bool cached_image_is_of(int file, const struct cached_origin *origin);

#endif
