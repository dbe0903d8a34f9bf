/* Names and source lines for all that a profile mentions. */
#ifndef UMBRA_GRINDER_SYMBOLIZE_H
#define UMBRA_GRINDER_SYMBOLIZE_H

#include "grinder/profile/images.h"
#include "grinder/profile/profile.h"

/* Where something is in the source. */
struct place {
    const char *file;     /* "???" if not known */
    uint32_t file_number; /* one for each file of each image; 0 if not known */
    uint32_t line;        /* 0 if not known */
};

/* Names every function in images, and finds the lines of functions and call sites of profile.
   debug_dirs ends with null. What cannot be read costs names or lines and says so. */
void symbolize(struct images *images, const struct profile *profile, const char *const *debug_dirs);

/* So that it can be called again, when there are more functions. */
void symbolize_forget(struct images *images);

struct place place_of_function(const struct images *images, uint32_t function);

/* site: as tree_call_site gives it. */
struct place place_of_site(const struct images *images, uint64_t site);

/* One more than the largest file_number. */
uint32_t place_file_count(const struct images *images);

#endif
