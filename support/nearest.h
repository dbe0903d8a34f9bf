/*
 * What a mistyped word stands for: the one of a list that is as it was typed, but for a letter or two.
 *
 *      report   reprot      two letters changed places
 *               repport     one too many, one too few, or another
 *               rep         only its beginning
 *
 *      struct nearest nearest = nearest_to("reprot", 6);
 *
 *      nearest_offer(&nearest, "record");
 *      nearest_offer(&nearest, "report");
 *      assert(!strcmp(nearest.word, "report"));
 */
#ifndef UMBRA_SUPPORT_NEAREST_H
#define UMBRA_SUPPORT_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word; /* of those offered, the nearest one; null if none is near */
    const char *typed;
    size_t length; /* of what was typed, which need not end there */
    size_t distance;
};

/* What was typed is kept, not copied. */
struct nearest nearest_to(const char *typed, size_t length);

/* Offers a word; the first of two that are equally near stays. */
void nearest_offer(struct nearest *nearest, const char *word);

#endif
