/*
 * Instrumented files by what they were made of, for all recordings of a user:
 *
 *      $XDG_CACHE_HOME/umbra, else ~/.cache/umbra
 *          images/KEY          an instrumented file
 *          images/KEY.left     why there is none: a line
 *          images/part-NUMBER  a folder, for one that is being made
 *          limit               bytes that all of them may take, as text
 *          lock                held (flock) by who removes some
 *
 * KEY is a hash of all that an instrumented file depends on, and of whose it is: cache_key.h. The
 * copy has the time, permissions and owner of its original, as it takes its place
 * (front/files/resemblance.h). Whoever finds one under its key compares it with the original, and
 * takes it if that is what he would have made: one that is another's, may be read by others, or
 * says that it was made of another file, is made anew.
 *
 * The folder is opened once, and judged on the way there (front/files/trusted_folder.h). All in it
 * is opened by that descriptor, without following a link and without waiting for anybody.
 *
 * A file is made under another name and renamed. Of two that make the same one at once, the slower
 * takes what the faster has made. What is bound, mapped or linked elsewhere lives on when its name
 * in the cache is removed.
 */
#ifndef UMBRA_FRONT_CACHE_H
#define UMBRA_FRONT_CACHE_H

#include <stdbool.h>

#include "front/base/words.h"
#include "front/cache/cache_key.h"
#include "front/cache/instrumenting.h"
#include "front/files/trusted_folder.h"

#define CACHE_REASON_SIZE INSTRUMENTING_REASON_SIZE
#define CACHE_LEFT_SUFFIX ".left"
#define CACHE_PART        "part-" /* begins the names of what is being made */

struct cache {
    struct trusted_folder folder, images;
    struct words options; /* of instrument */
    struct cache_tools tools;
    bool is_apart;          /* in a folder of the caller's: not the user's cache */
    _Atomic bool has_grown; /* since it was trimmed; cache_get is used by several threads */
};

/* An instrumented file: what is open, which was judged, whatever its name leads to by now. */
struct cached_file {
    int file; /* open for reading; to be closed; -1 of what is not CACHED */
};

enum cached {
    CACHED,        /* the instrumented file */
    CACHED_LEFT,   /* it cannot be instrumented, for that reason */
    CACHED_FAILED, /* something else went wrong; there is a reason, too, not remembered */
};

/* options: those for instrument. If the user's cache cannot be written, one in the folder `apart`
   is used, and a line says so. Ends the process with a message if neither can be made. */
void cache_open(struct cache *cache, const struct words *options, const char *apart);

/* The user's own alone, and no tools; `lost` ends the line that says why it cannot be used. */
bool cache_open_own(struct cache *cache, const char *lost);
void cache_close(struct cache *cache);

/* The instrumented form of what is open and lies at that absolute path. */
enum cached cache_get(struct cache *cache, int original, const char *path, struct cached_file *copy,
                      char reason[CACHE_REASON_SIZE]);

#endif
