/*
 * What the cache holds, and that it keeps within its limit. The least recently used go first; a use
 * sets the time of access. Only files are removed that have the names of cache.h.
 */
#ifndef UMBRA_FRONT_CACHE_LIMIT_H
#define UMBRA_FRONT_CACHE_LIMIT_H

#include "front/cache/cache.h"

/* To be called when what cache_get returned has been linked to: removes the least recently used
   until the rest keeps within the limit. */
void cache_trim(struct cache *cache);

/* `umbra cache`: shows it; removes all; sets the limit and keeps to it. Each returns an exit
   status. */
int cache_show(void);
int cache_clear(void);
int cache_set_limit(const char *size);

#endif
