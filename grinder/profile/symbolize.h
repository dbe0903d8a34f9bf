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

/* Names every function in images, and finds the lines of functions, call sites and hits of profile,
   and what is inlined at these hits. debug_dirs ends with null. What cannot be read costs names or
   lines and says so. */
void symbolize(struct images *images, const struct profile *profile, const char *const *debug_dirs);

/* As symbolize, of so many places, each image << 32 | rva, in place of a profile: their lines are those
   of place_of_site. */
void symbolize_places(struct images *images, const uint64_t *places, size_t count,
                      const char *const *debug_dirs);

/* So that it can be called again, when there are more functions. */
void symbolize_forget(struct images *images);

struct place place_of_function(const struct images *images, uint32_t function);

/* site: as tree_call_site gives it. */
struct place place_of_site(const struct images *images, uint64_t site);

/* The place of an instruction of hits.h. At the beginning of a function that is a statement's line, not
   the one where it is declared; the statement may be one that was inlined. */
struct place place_of_spot(const struct images *images, uint64_t spot);

/*
 * The innermost of the calls that the compiler inlined at an instruction of hits.h: place_of_spot is in
 * the function of that name. `outer` leads to the calls it is within; the outermost was in the function
 * that has the symbol. Null: nothing is inlined there, or it is not known. Instructions within the same
 * inlined call have the same pointer, until symbolize_forget.
 */
const struct inlined *inlined_at_spot(const struct images *images, uint64_t spot);

/* Where it was called: in the function of inlined->outer. spot: one of those that have it. */
struct place place_of_inlined(const struct images *images, uint64_t spot,
                              const struct inlined *inlined);

/* One more than the largest file_number. */
uint32_t place_file_count(const struct images *images);

#endif
