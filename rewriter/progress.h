/* A line on stderr that says how far long work is; on a terminal only. */
#ifndef UMBRA_REWRITER_PROGRESS_H
#define UMBRA_REWRITER_PROGRESS_H

#include <stddef.h>

/* Shows it, at most every tenth of a second. */
void progress_show(size_t done, size_t all, const char *what);
/* Takes the line away: before anything else is printed, and at the end. */
void progress_clear(void);

#endif
