/*
 * What counted.c counts of itself, in a file that outlives it, and kill_campaign.c compares with
 * the trace:
 *
 *      page 0   struct counted_thread [COUNTED_THREADS], a cache line each
 *
 * A thread stores `begun` right before each call and `ended` right after. So at any moment the
 * calls that began are begun - 1 or begun, and those that ended at least `ended`.
 */
#ifndef UMBRA_TEST_COUNTED_H
#define UMBRA_TEST_COUNTED_H

#include <stdint.h>

#define COUNTED_THREADS 3

struct counted_thread {
    uint64_t tid; /* 0: not begun */
    uint64_t begun;
    uint64_t ended;
    uint64_t reserved[5];
};

#endif
