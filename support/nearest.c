#include "support/nearest.h"

#include <string.h>

#define LONGEST      31 /* letters; longer words are near to none */
#define SHORT        4  /* up to here one letter may be wrong, else two */
#define LEAST_PREFIX 2

struct nearest nearest_to(const char *typed, size_t length)
{
    return (struct nearest){.typed = typed,
                            .length = length,
                            .distance = length <= SHORT ? 2 : 3}; /* nearer than that */
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * How many letters are to be put in, removed or changed, or neighbours to change places: the
 * optimal string alignment distance. rows[i][j] is that of the first i letters of one and the first
 * j of the other.
 */
static size_t distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned char rows[LONGEST + 1][LONGEST + 1];

    for (size_t i = 0; i <= a_length; i++) {
        for (size_t j = 0; j <= b_length; j++) {
            size_t distance = i && j ? rows[i - 1][j - 1] + (size_t)(a[i - 1] != b[j - 1]) : i + j;
            if (i && j)
                distance = least(distance, least(rows[i - 1][j], rows[i][j - 1]) + 1U);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                distance = least(distance, rows[i - 2][j - 2] + 1U);
            rows[i][j] = (unsigned char)distance;
        }
    }
    return rows[a_length][b_length];
}

void nearest_offer(struct nearest *nearest, const char *word)
{
    size_t length = strlen(word);
    size_t distance;

    if (nearest->length > LONGEST || length > LONGEST)
        return;
    distance = distance_of(nearest->typed, nearest->length, word, length);
    if (nearest->length >= LEAST_PREFIX && !strncmp(word, nearest->typed, nearest->length))
        distance = least(distance, 1);
    if (distance >= nearest->distance || distance >= nearest->length)
        return;
    nearest->distance = distance;
    nearest->word = word;
}
