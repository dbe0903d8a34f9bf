/* Ways to look at traces: one row of the table and one function each. */
#ifndef UMBRA_GRINDER_MODE_H
#define UMBRA_GRINDER_MODE_H

#include <stdbool.h>

#include "grinder/options.h"
#include "grinder/profile/images.h"
#include "grinder/profile/profile.h"

#define MODE_SIDES 3 /* at most, with that of --again */

struct mode {
    const char *name;
    bool merges;      /* all threads into one part, whatever the options say */
    size_t sides;     /* recordings it looks at, each a profile; one may be of many traces */
    int failure;      /* exit status if something was wrong with the traces or the output */
    bool needs_times; /* it shows nothing of recordings without times */
    bool needs_hits;  /* it shows samples one by one: profile->keeps_hits */
    bool needs_peaks; /* it shows how deep each thread's stack was (stack_format.h), and no costs */
    bool counts_events; /* it says how many events a call-trace recording has */
    /* Whether it writes the format of that name, null for its default; null: it knows none. */
    bool (*has_format)(const char *name);
    /* Whether it shows costs by chains of calls: profile->keeps_stacks. Null: it does not. */
    bool (*needs_stacks)(const struct options *options);
    /* Writes what the mode shows of its symbolized profiles. Returns the exit status. */
    int (*run)(const struct options *options, const struct profile *profiles,
               const struct images *images);
    /* In place of all that: reads its traces itself, again and again. */
    int (*run_alone)(const struct options *options);
};

/* The recordings that there are, with that of --again behind the mode's. */
size_t mode_side_count(const struct options *options);

/* Where a recording has no times, has calls shown in their place, as the weight. 0; or what the
   program is to end with, after a message: times were asked for, or there are times of others. */
int mode_choose_weight(struct options *options, const struct profile *profiles,
                       const struct images *images);

/* Whether what is to be done needs a call-trace recording's events. */
bool mode_needs_events(const struct options *options);

/* The last has a null name. */
extern const struct mode modes[];

/* Null if there is none of that name. */
const struct mode *mode_named(const char *name);

#endif
