/*
 * Which of many things make something fail: a smallest set, found by trying halves (delta
 * debugging, Zeller and Hildebrandt 2002, in the form for a single set).
 *
 *      suspects        fails with      so
 *      abcdefgh
 *      abcd            no
 *          efgh        yes             it is among these
 *          ef          no
 *            gh        no              both are needed: e, f with gh always; then g, h with e
 *
 * One thing of n takes about 2 log2(n) trials; k that are needed together, k times that.
 */
#ifndef UMBRA_SUPPORT_NARROWING_H
#define UMBRA_SUPPORT_NARROWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct narrowing {
    /* Whether it fails with these things, ascending, and no others. */
    bool (*fails)(void *owner, const uint64_t *things, size_t count);
    void *owner;
    size_t most;  /* things that are needed together: beyond them the search ends; 0: no limit */
    bool is_over; /* may be set by fails: the search ends */

    uint64_t
        *needed; /* to be freed: without one of these it does not fail; in the order of suspects */
    size_t needed_count, room; /* most + 1: there are more than `most` */
};

/* Suspects: ascending. It must fail with them, and must not fail with nothing: neither is tried. */
void narrow(struct narrowing *narrowing, const uint64_t *suspects, size_t count);

#endif
