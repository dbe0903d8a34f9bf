/*
 * Sixteen places at a time: where the first and the last byte fit, the others are compared.
 *
 *      at           | a b c d e f … |         == first byte, each
 *      at + size - 1      | c d e f … |       == last byte, each        both: a bit
 */
#include "rewriter/code/find_bytes.h"

#include <emmintrin.h>
#include <string.h>

#define LANES 16

/* A bit for each place at which it may be. */
static unsigned candidates(const uint8_t *at, __m128i first, __m128i last, size_t size)
{
    __m128i front = _mm_loadu_si128((const __m128i *)at);
    __m128i back = _mm_loadu_si128((const __m128i *)(at + size - 1));

    return (unsigned)_mm_movemask_epi8(
        _mm_and_si128(_mm_cmpeq_epi8(front, first), _mm_cmpeq_epi8(back, last)));
}

const uint8_t *find_bytes(const uint8_t *at, const uint8_t *end, const uint8_t *wanted, size_t size)
{
    __m128i first = _mm_set1_epi8((char)wanted[0]), last = _mm_set1_epi8((char)wanted[size - 1]);

    for (; at < end && (size_t)(end - at) >= LANES + size; at += LANES)
        for (unsigned bits = candidates(at, first, last, size); bits; bits &= bits - 1) {
            const uint8_t *place = at + __builtin_ctz(bits);

            if (!memcmp(place, wanted, size))
                return place;
        }
    for (; at < end && (size_t)(end - at) >= size; at++)
        if (!memcmp(at, wanted, size))
            return at;
    return NULL;
}
