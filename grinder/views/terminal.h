/* The terminal that standard output is, and a pager on it, as git has them. */
#ifndef UMBRA_GRINDER_TERMINAL_H
#define UMBRA_GRINDER_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "support/failure.h"

struct terminal {
    size_t rows, columns;
    bool has_colour; /* neither $NO_COLOR nor TERM=dumb forbids it */
    bool is_dumb;    /* or not known: it has no pager */
    bool is_utf8;
};

/* Looks at standard output, which must be a terminal. */
struct terminal terminal_look(void);

/*
 * Writes text there. What is longer than the screen goes through $UMBRA_PAGER, $PAGER or less, the
 * first that is set, unless that is empty or cat; less gets LESS=FRX if that is not set. Without it,
 * if it is not there. False if it cannot be written.
 */
bool terminal_show(const struct terminal *terminal, const char *text, bool may_page,
                   struct failure *failure);

#endif
