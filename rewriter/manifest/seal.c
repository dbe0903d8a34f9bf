#include "rewriter/manifest/seal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define XXH_STATIC_LINKING_ONLY /* a state on the stack */
#include <xxhash.h>

#define SEAL_PIECE (64u << 10) /* bytes read at a time */

uint64_t seal_of(const uint8_t *bytes, size_t size, uint64_t field)
{
    uint64_t none = 0;
    size_t end = field + sizeof(none);
    XXH3_state_t state;

    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, bytes, field);
    XXH3_64bits_update(&state, &none, sizeof(none));
    XXH3_64bits_update(&state, bytes + end, size - end);
    return XXH3_64bits_digest(&state);
}

/* Takes the next bytes in, those of the field as zeros. */
static void update(XXH3_state_t *state, uint8_t *bytes, uint64_t offset, size_t size,
                   uint64_t field)
{
    for (uint64_t at = field; at < field + sizeof(uint64_t); at++)
        if (at - offset < size)
            bytes[at - offset] = 0;
    XXH3_64bits_update(state, bytes, size);
}

/* Piece by piece: the pages of a map would count as memory. */
bool seal_output(struct output_file *output, uint64_t field, struct failure *failure)
{
    uint8_t bytes[SEAL_PIECE];
    uint64_t seal, offset = 0;
    XXH3_state_t state;
    ssize_t size;

    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    while ((size = pread(output->descriptor, bytes, sizeof(bytes), (off_t)offset)) != 0) {
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return fail(failure, output->path, "cannot read what was written: %s", strerror(errno));
        update(&state, bytes, offset, (size_t)size, field);
        offset += (uint64_t)size;
    }
    seal = XXH3_64bits_digest(&state);
    return output_file_write(output, field, &seal, sizeof(seal), failure);
}
