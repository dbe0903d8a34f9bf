#include "rewriter/seal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define XXH_STATIC_LINKING_ONLY /* a state on the stack */
#include <xxhash.h>

uint64_t seal_of(const uint8_t *bytes, size_t size, uint64_t field)
{
    const uint64_t none = 0;
    const size_t end = field + sizeof none;
    XXH3_state_t state;

    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, bytes, field);
    XXH3_64bits_update(&state, &none, sizeof none);
    XXH3_64bits_update(&state, bytes + end, size - end);
    return XXH3_64bits_digest(&state);
}

bool seal_output(struct output_file *output, uint64_t field, struct failure *failure)
{
    struct stat status;
    uint64_t seal;
    size_t size;
    void *bytes = MAP_FAILED;

    if (fstat(output->descriptor, &status) == 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, output->descriptor, 0);
    if (bytes == MAP_FAILED)
        return fail(failure, output->path, "cannot read what was written: %s", strerror(errno));
    size = (size_t)status.st_size;
    seal = seal_of(bytes, size, field);
    munmap(bytes, size);
    return output_file_write(output, field, &seal, sizeof seal, failure);
}
