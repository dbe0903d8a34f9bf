#include <xxhash.h>

#include "image/original.h"
#include "rewriter/verify/verify_image.h"

typedef unsigned long long ull;

/* Names the first differing byte if the original can still be read, and is the original. */
static bool tell_difference(const struct instrumented *image, const char *path,
                            struct failure *failure)
{
    const struct image_manifest *head = image->manifest.head;
    uint64_t size = head->original_size, at = 0;
    struct input_file original;
    struct failure ignored;

    if (path && input_file_open(&original, path, &ignored)) {
        if (original.size == size && XXH3_64bits(original.bytes, size) == head->original_hash)
            while (at < size && original.bytes[at] == image->bytes[at])
                at++;
        else
            at = size;
        if (at < size)
            fail(failure, image->path,
                 "changed after it was written: byte %#llx is not that of the original, %s; "
                 "instrument it again",
                 (ull)at, path);
        input_file_close(&original);
        if (at < size)
            return false;
    }
    return fail(failure, image->path,
                "changed after it was written: its first %llu bytes do not give back the original "
                "(XXH3 %016llx), which is not there to tell where; instrument it again",
                (ull)size, (ull)head->original_hash);
}

bool instrumented_restore(struct instrumented *image, struct failure *failure)
{
    const struct image_manifest *head = image->manifest.head;
    struct original_result result =
        original_restore(image->bytes, image->size, &image->ranges, &image->manifest);

    switch (result.problem) {
    case ORIGINAL_WHOLE:
        return true;
    case ORIGINAL_CUT_OFF:
        return fail(failure, image->path,
                    "truncated: its original has %llu bytes, the file has %zu",
                    (ull)head->original_size, image->size);
    case ORIGINAL_FUNCTION_ELSEWHERE:
        return fail(failure, image->path,
                    "expected the function at %#llx within the original, found it elsewhere",
                    (ull)(image->ranges.base + result.where));
    case ORIGINAL_CHANGE_ELSEWHERE:
        return fail(failure, image->path,
                    "expected the change at byte %#llx within the original, found it elsewhere",
                    (ull)result.where);
    case ORIGINAL_GREW:
        return fail(failure, image->path,
                    "changed after it was written: its headers grew by %llu bytes",
                    (ull)result.where);
    case ORIGINAL_DIFFERS:
        break;
    }
    return tell_difference(image, manifest_string(&image->manifest, head->original_path), failure);
}
