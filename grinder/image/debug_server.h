/*
 * Debug files from the servers that DEBUGINFOD_URLS names. A process of its own (debug_client.h)
 * asks them by libdebuginfod, which keeps what it fetched in a cache (debuginfod-client-config(7));
 * debug_trust.h says which servers and which cache. It is started when the first file is asked for:
 * the library brings some twenty others, and most runs need none.
 *
 * Whatever a server sends, a file has 512 MB at most, all files of a run 1 GB, and the run waits
 * for 300 s in all; DEBUGINFOD_MAXSIZE and DEBUGINFOD_MAXTIME may say less.
 *
 * Without DEBUGINFOD_URLS, and after a server that cannot be reached, nobody is asked.
 */
#ifndef UMBRA_GRINDER_DEBUG_SERVER_H
#define UMBRA_GRINDER_DEBUG_SERVER_H

#include <stddef.h>

/* From now on nobody is asked. */
void debug_server_disable(void);

/* The path of the debug file with this build-id, in the cache; to be freed, or null. Says why if a
   server could not be asked. name: of the image, for the line of progress. */
char *debug_server_find(const unsigned char *build_id, size_t size, const char *name);

#endif
