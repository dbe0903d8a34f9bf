/*
 * Which servers may be asked for debug files, and where what they send may be kept.
 *
 * Root may run with the environment of somebody else (sudo -E, cron), whose servers and folders are
 * not root's. So as root
 *
 *      servers     those of DEBUGINFOD_URLS that stand in /etc/debuginfod/NAME.urls, too
 *      cache       .cache/debuginfod_client in the home that /etc/passwd has
 *
 * For everybody, the cache is a folder in whose place nobody but root and the user can put another:
 * each folder on the way, links resolved, is the user's or root's, and others can rename nothing in
 * it.
 */
#ifndef UMBRA_GRINDER_DEBUG_TRUST_H
#define UMBRA_GRINDER_DEBUG_TRUST_H

#include "support/failure.h"

/* The servers of wanted, which is like DEBUGINFOD_URLS, that may be asked; to be freed. Empty:
   none. */
char *debug_trust_servers(const char *wanted);

/* The path of the cache, made if it is missing, without links; to be freed. Null: failure says
   why not. */
char *debug_trust_cache(struct failure *failure);

#endif
