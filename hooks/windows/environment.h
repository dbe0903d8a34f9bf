#ifndef UMBRA_HOOKS_WINDOWS_ENVIRONMENT_H
#define UMBRA_HOOKS_WINDOWS_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* The value of an environment variable, as UTF-8, cut if it is longer. False: it is not set, or is
   empty. Only at a time when the process may call Windows; `name` is ASCII. */
bool environment_get(const char *name, char *value, size_t size);

#endif
