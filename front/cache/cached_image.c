#include "front/cache/cached_image.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "image/manifest.h"

/* The head alone: of a large image the rest is megabytes. */
static bool read_head(struct image_manifest *head, uint64_t *offset,
                      const struct bounded_file *file)
{
    struct manifest_place place;

    if (!manifest_locate(&place, file) ||
        bounded_file_read(file, head, sizeof(*head), place.offset) < 0)
        return false;
    *offset = place.offset;
    return head->magic == MANIFEST_MAGIC && head->version == IMAGE_VERSION;
}

static bool path_is(const struct bounded_file *file, uint64_t offset, const char *path)
{
    size_t size = strlen(path) + 1;
    char found[PATH_MAX];

    return size <= sizeof(found) && bounded_file_read(file, found, size, offset) == 0 &&
           !memcmp(found, path, size);
}

bool cached_image_is_of(int file, const struct cached_origin *origin)
{
    struct bounded_file bounded = {.fd = file};
    struct image_manifest head;
    struct stat status;
    uint64_t offset;

    if (fstat(file, &status) < 0 || !S_ISREG(status.st_mode))
        return false;
    bounded.size = (uint64_t)status.st_size;
    return read_head(&head, &offset, &bounded) && head.original_size == origin->size &&
           head.original_hash == origin->hash &&
           path_is(&bounded, offset + head.original_path, origin->path);
}
