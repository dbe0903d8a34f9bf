#include "grinder/image/original_bytes.h"

#include <stdbool.h>
#include <stdlib.h>

#include "image/original.h"
#include "support/bounded_file.h"

/* The original's bytes, to be freed; null if they cannot be had. */
static uint8_t *restore(const struct bounded_file *file, const struct manifest *manifest)
{
    struct loaded_ranges ranges;
    uint64_t room;
    uint8_t *bytes;

    if (!loaded_ranges_read(&ranges, file))
        return NULL;
    room = original_bytes_needed(&ranges, manifest, file->size);
    bytes = bounded_file_copy(file, 0, room);
    if (bytes && original_restore(bytes, room, &ranges, manifest).problem != ORIGINAL_WHOLE) {
        free(bytes);
        bytes = NULL;
    }
    loaded_ranges_free(&ranges);
    return bytes;
}

void original_bytes_read(struct original_bytes *original, const char *path,
                         const struct manifest *manifest)
{
    struct bounded_file file;
    struct failure failure;

    *original = (struct original_bytes){0};
    if (!manifest->head || !bounded_file_open(&file, path, &failure))
        return;
    original->bytes = restore(&file, manifest);
    bounded_file_close(&file);
    if (!original->bytes)
        return;
    file = bounded_file_of(original->bytes, manifest->head->original_size);
    if (!loaded_ranges_read(&original->ranges, &file))
        original_bytes_free(original);
}

void original_bytes_read_plain(struct original_bytes *original, const char *path)
{
    struct bounded_file file;
    struct failure failure;

    *original = (struct original_bytes){0};
    if (!path || !bounded_file_open(&file, path, &failure))
        return;
    original->bytes = bounded_file_copy(&file, 0, file.size);
    if (original->bytes && !loaded_ranges_read(&original->ranges, &file))
        original_bytes_free(original);
    bounded_file_close(&file);
}

void original_bytes_free(struct original_bytes *original)
{
    free(original->bytes);
    loaded_ranges_free(&original->ranges);
    *original = (struct original_bytes){0};
}

const uint8_t *original_bytes_at(const struct original_bytes *original, uint32_t rva, uint64_t size)
{
    uint64_t offset;

    return original->bytes && loaded_ranges_find(&original->ranges, rva, size, &offset)
               ? original->bytes + offset
               : NULL;
}
