/* The few functions of string.h that the agent needs; the compiler may call the mem* ones too. */
#ifndef UMBRA_HOOKS_MEMORY_H
#define UMBRA_HOOKS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t text_length(const char *text);
bool text_equal(const char *a, const char *b);

/* Copies what fits and terminates it. */
void text_copy(char *to, size_t size, const char *from);
/* Appends what fits behind what is there already, and terminates it. */
void text_append(char *to, size_t size, const char *more);
void text_append_number(char *to, size_t size, uint32_t number);

/* The value of NAME in an environment block, null if it is not set. */
const char *environment_value(char *const *environment, const char *name);

#endif
