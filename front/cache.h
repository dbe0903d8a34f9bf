/*
 * Instrumented files by what they were made of, for all recordings of a user:
 *
 *      $XDG_CACHE_HOME/umbra, else ~/.cache/umbra
 *          images/KEY          an instrumented file
 *          images/KEY.left     why there is none: a line
 *          limit               bytes that all of them may take, as text
 *          lock                held (flock) by who removes some
 *
 * KEY is XXH3 128 of all that an instrumented file depends on: the original's content, path, time,
 * permissions and owner, the content of `instrument` and of the agent, and the options. The copy
 * has the time, permissions and owner of its original, as it takes its place. So whoever finds a
 * file under its key can take it as it is.
 *
 * A file is made under another name and renamed: two that make the same one at once both succeed,
 * and the second replaces the first by the same. What is bound, mapped or linked elsewhere lives on
 * when its name in the cache is removed. The least recently used go first; a use sets the time of
 * access.
 */
#ifndef UMBRA_FRONT_CACHE_H
#define UMBRA_FRONT_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "front/words.h"

#define CACHE_LIMIT       (4ull << 30)
#define CACHE_LARGEST     (2ll << 30) /* bytes of a file that is instrumented: all others wait */
#define CACHE_REASON_SIZE 512

struct cache {
    char *folder;
    char *images;
    struct words options; /* of instrument */
    uint64_t tools;       /* hash of what instruments, and of the options */
    bool is_apart;        /* in a folder of the caller's: not the user's cache */
    bool has_grown;       /* since it was trimmed */
};

/* An instrumented file. What is to be bound or copied is what is open: it was judged. */
struct cached_file {
    int file;            /* open for reading; to be closed; -1 of what is not CACHED */
    char path[PATH_MAX]; /* its name in the cache, for who makes a link to it */
};

enum cached {
    CACHED,        /* the instrumented file */
    CACHED_LEFT,   /* it cannot be instrumented, for that reason */
    CACHED_FAILED, /* something else went wrong: likewise a reason, not remembered */
};

/* options: those for instrument. If the user's cache cannot be written, one in the folder `apart`
   is used, and a line says so. Ends the process with a message if neither can be made. */
void cache_open(struct cache *cache, const struct words *options, const char *apart);

/* The instrumented form of what is open and lies at that absolute path. */
enum cached cache_get(struct cache *cache, int original, const char *path, struct cached_file *copy,
                      char reason[CACHE_REASON_SIZE]);

/* To be called when what cache_get returned has been linked to: removes the least recently used
   until the rest keeps within the limit. */
void cache_trim(struct cache *cache);

/* `umbra cache`: shows it; removes all; sets the limit and keeps to it. Each returns an exit
   status. */
int cache_show(void);
int cache_clear(void);
int cache_set_limit(const char *size);

#endif
