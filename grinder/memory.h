/* Allocation that ends the program, with one line and status 1, when there is no memory. */
#ifndef UMBRA_GRINDER_MEMORY_H
#define UMBRA_GRINDER_MEMORY_H

#include <stddef.h>

/* To be called first: has large arrays given back to the system when they are freed. */
void memory_begin(void);

/* count * size zeroed bytes, never null. */
void *memory_zeroed(size_t count, size_t size);

/* Room for one more than count elements: grows array by doubling, *room is its current room. */
void *memory_grow(void *array, size_t count, size_t *room, size_t size);

char *memory_copy_string(const char *text);

#endif
