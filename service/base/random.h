/* Numbers that nobody can guess. */
#ifndef UMBRA_SERVICE_RANDOM_H
#define UMBRA_SERVICE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

/* Up to 256 bytes. Returns false, errno set, if the system has none. */
bool random_fill(void *bytes, size_t size);

#endif
