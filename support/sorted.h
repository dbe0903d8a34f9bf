/*
 * Finding a place in a sorted array, by binary search.
 *
 *      partition_point(i, count, items[i].address < address)     the first that is not below
 *      partition_point(i, count, items[i].address <= address)    one behind the last not above
 *
 * The condition names an item by its index i. It holds for items at the front and for none behind
 * these. The value is the number of items for which it holds, 0 to count: the index of the first
 * one for which it does not. (C++ calls this std::partition_point.)
 */
#ifndef UMBRA_SUPPORT_SORTED_H
#define UMBRA_SUPPORT_SORTED_H

#include <stddef.h>

#define partition_point(i, count, condition)                                                       \
    __extension__({                                                                                \
        size_t partition_low = 0, partition_high = (count);                                        \
        while (partition_low < partition_high) {                                                   \
            size_t i = partition_low + (partition_high - partition_low) / 2;                       \
            if (condition)                                                                         \
                partition_low = i + 1;                                                             \
            else                                                                                   \
                partition_high = i;                                                                \
        }                                                                                          \
        partition_low;                                                                             \
    })

#endif
