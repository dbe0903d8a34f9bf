/*
 * The memory that the agent has mapped, beside its own image. The program's mlockall leaves it
 * alone (hooks/linux/locked_memory.h). Threads and signal handlers may come at any time: an area is
 * one word.
 */
#ifndef UMBRA_THUNKSTASH_LINUX_OWN_MEMORY_H
#define UMBRA_THUNKSTASH_LINUX_OWN_MEMORY_H

#include <stdint.h>

struct memory_span {
    uint64_t start, end;
};

#define OWN_MEMORY_MOST 16384 /* areas: two a thread; one more is taken for the program's */

/*
 * An area, 0 if the entry is free:
 *
 *       63                   28 27            0
 *      +-----------------------+---------------+
 *      | number of first page  | pages         |
 *      +-----------------------+---------------+
 */
#define OWN_MEMORY_SIZE_BITS 28
extern uint64_t own_memory_areas[OWN_MEMORY_MOST];

/* start: of a page; size: rounded up to whole pages. */
void own_memory_add(const void *start, uint64_t size);

/* Does nothing for an area that was never added. */
void own_memory_remove(const void *start, uint64_t size);

/* The lowest area that ends above an address; from UINT64_MAX to UINT64_MAX if there is none. */
struct memory_span own_memory_above(uint64_t address);

#endif
