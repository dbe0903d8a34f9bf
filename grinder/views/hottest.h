/* The functions of a part, those that took most first. */
#ifndef UMBRA_GRINDER_HOTTEST_H
#define UMBRA_GRINDER_HOTTEST_H

#include <stdbool.h>
#include <stddef.h>

#include "grinder/profile/profile.h"

enum hot_order {
    HOT_SELF,
    HOT_INCLUSIVE,
    HOT_CALLS,
    HOT_WAIT,
    HOT_INCLUSIVE_WAIT,
    HOT_INSTRUCTIONS, /* their own */
    HOT_P99,
};
#define HOT_ORDERS 6 /* of functions; HOT_P99 is of those whose calls were timed each */

struct hot {
    uint32_t function;
    struct costs costs;
};

struct hottest {
    struct hot *functions; /* all of the part's */
    size_t count;
};

/* In the order in which they turned up. */
struct hottest hottest_of(const struct part *part);
void hottest_free(struct hottest *hottest);

/* Sorts functions; those that took as much as each other by calls, then in the order in which they
   turned up. */
void hottest_sort(const struct hottest *hottest, enum hot_order order);

/* The order of that name: self, inclusive, calls, wait, p99 or instructions; false if there is none. */
bool hot_order_named(const char *name, enum hot_order *order);

#endif
