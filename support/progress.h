/* A line on stderr that says how far long work is; on a terminal only. Names are shown as
   utf8_sanitise would leave them. */
#ifndef UMBRA_SUPPORT_PROGRESS_H
#define UMBRA_SUPPORT_PROGRESS_H

#include <stddef.h>

/* Shows it, at most every tenth of a second. */
void progress_show(size_t done, size_t all, const char *what);
/* Shows it within one file, after a second of it; to be called often. */
void progress_share(size_t done, size_t all, const char *what);
/* From now on nothing is shown. */
void progress_disable(void);
/* Takes the line away: before anything else is printed, and at the end. */
void progress_clear(void);

#endif
