/* Ways to look at traces: one row of the table and one function each. */
#ifndef UMBRA_GRINDER_MODE_H
#define UMBRA_GRINDER_MODE_H

#include <stdbool.h>

#include "grinder/images.h"
#include "grinder/options.h"
#include "grinder/profile.h"

struct mode {
    const char *name;
    bool merges; /* all threads into one part, whatever the options say */
    /* Writes what the mode shows of a symbolized profile. 0, or -1 after a message. */
    int (*run)(const struct options *options, const struct profile *profile,
               const struct images *images);
};

/* The last has a null name. */
extern const struct mode modes[];

/* Null if there is none of that name. */
const struct mode *mode_named(const char *name);

#endif
