/* --mode=diff: what changed from one recording to another. */
#ifndef UMBRA_GRINDER_DIFF_H
#define UMBRA_GRINDER_DIFF_H

#include <stdbool.h>
#include <stdio.h>

#include "grinder/formats/format.h"

/* The first one's figures, and the second one's. */
enum { BEFORE, AFTER, SIDES };

#define AGAIN SIDES /* among profiles, a second one of the first build */

struct change {
    uint32_t function; /* of those that match, one: of the second recording, if it has one */
    uint32_t was;      /* one of the first recording, or 0 */
    struct costs costs[SIDES];
    uint64_t noise_ns; /* diff_noise of its self time */
    bool varies;       /* between two recordings of the first build: it is not judged */
};

struct diff {
    const struct images *images;
    const struct part *parts[SIDES];
    uint32_t *same;         /* match_functions */
    struct change *changes; /* the largest change of the weight first */
    size_t count;
    enum weight weight;
    bool has_times, is_sampled, has_instructions; /* both recordings */
    bool knows_noise; /* diff_note_noise was called */
    bool is_listed[SIDES]; /* it is a baseline: it has functions' own figures, and the larger contexts' */
    const char *counts;         /* what both count; null: one counts calls, the other samples */
};

struct diff_format {
    const char *name;
    bool needs_stacks; /* shows costs by chains of calls: profile->keeps_stacks */
    bool has_contexts; /* shows them by calls and instructions, too, if they are kept */
    void (*write)(FILE *stream, const struct diff *diff, size_t top);
};

/* Null if there is none of that name; without a name the one for a terminal, or for a file. */
const struct diff_format *diff_format_named(const char *name, bool to_terminal);

/* Begins a diff of two merged, symbolized profiles. */
void diff_begin(struct diff *diff, const struct profile profiles[SIDES],
                const struct images *images, enum weight weight);
void diff_free(struct diff *diff);

/* Finds the functions whose calls or instructions differ between the first recording and profiles[AGAIN]. */
void diff_note_noise(struct diff *diff, const struct profile *profiles);

/* Whether both recordings' stacks were kept. */
bool diff_has_stacks(const struct diff *diff);

/*
 * How far apart two self times of one program may be that are made of samples: 0 of other times.
 *
 * A time of n samples is off by sqrt(n) of them, as n counts what comes at random; a difference of
 * two such by sqrt(n + m). It is twice that in one of 20 cases:
 *
 *      samples     0 and 4     20 and 36     100 and 132     1,000 and 1,092
 */
uint64_t diff_noise(const struct diff *diff, const struct costs costs[SIDES]);

/* What a diff by that weight compares. */
uint64_t diff_figure(const struct costs *costs, enum weight weight);

/* The sums of all functions, self figures alone. */
void diff_whole(const struct diff *diff, struct costs whole[SIDES]);

/* Whether the whole, or a function by itself, changed by more than percent of the first whole, and
   its time by more than samples do by chance; functions that vary left out. */
bool diff_exceeds(const struct diff *diff, double percent);

#endif
