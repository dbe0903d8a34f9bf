/* A line on how far long work has come: on a terminal only, and only once a second has passed. */
#ifndef UMBRA_REWRITER_PROGRESS_H
#define UMBRA_REWRITER_PROGRESS_H

#include <stddef.h>

/* To be called often; looks at the clock now and then. `what` follows "12% of the ". */
void progress(const char *what, size_t done, size_t all);
/* Takes the line away, if there is one. */
void progress_end(void);

#endif
