/*
 * The functions that a recording has hooked in one file, and filters that hook some of them alone.
 *
 * They are those that `instrument --list` shows for the recording's copy. A filter excludes all
 * addresses, and includes stretches: what lies between two chosen ones has no hook anyway, unless
 * the user has excluded it.
 *
 *      --list          0x1000 a hooked     0x1040 b too-short     0x1080 c hooked     0x10c0 d
 * excluded a and c         exclude 0x0-0xffffffffffffffff include 0x1000-0x1081
 */
#ifndef UMBRA_FRONT_HOOKED_FUNCTIONS_H
#define UMBRA_FRONT_HOOKED_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hooked_function {
    uint64_t address;
    char *name;    /* null if it has none */
    size_t behind; /* so many functions that were excluded */
};

struct hooked_functions {
    struct hooked_function *list; /* ascending */
    size_t count, room;
};

/* Reads them; all tools' files are made in `folder`. Ends the process with a message if the list
   cannot be made. */
void hooked_functions_read(struct hooked_functions *functions, const char *image,
                           const char *folder);
void hooked_functions_free(struct hooked_functions *functions);

/* Whether no other has that name. */
bool hooked_function_is_alone(const struct hooked_functions *functions, size_t which);

/* Writes a filter that hooks these alone: numbers of functions, ascending. Ends the process with a
   message if it cannot be written. */
void hooked_functions_write_filter(const struct hooked_functions *functions, const uint64_t *chosen,
                                   size_t count, const char *path);

#endif
