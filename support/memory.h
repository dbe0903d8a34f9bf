/*
 * Memory of a short-lived tool: running out of it ends the process with one line, that names the
 * tool, and status 1. atexit handlers run.
 */
#ifndef UMBRA_SUPPORT_MEMORY_H
#define UMBRA_SUPPORT_MEMORY_H

#include <stddef.h>

/* count * size zeroed bytes, to be freed; never null. */
void *memory_zeroed(size_t count, size_t size);

/* Makes room for one more item in an array of `count`: its *room doubles when it is full. Returns
   the array, perhaps moved. */
void *memory_grow(void *items, size_t count, size_t *room, size_t item_size);

char *memory_copy_string(const char *text);
/* A copy that is valid UTF-8 without control characters: see support/utf8.h. */
char *memory_copy_utf8(const char *text);

/* What printf would print. */
__attribute__((format(printf, 1, 2))) char *memory_print(const char *format, ...);

/* What an allocation of that many bytes returned; never null. */
void *memory_or_exit(void *memory, size_t size);

#endif
