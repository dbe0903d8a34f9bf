/*
 * Where the instrumented images of a recorded process lie, and the code in them.
 *
 * Images are in its trace, in blocks of modules that the agent adds while the process runs. What
 * was read once is not read again, but for a block that may still get modules:
 *
 *      block   0         1        2         3         4       5
 *              thread    modules  nodes     (kind 0)  nodes   not handed out
 *      open              from unit 40       yes               <- scanned
 *
 * Code is what the system says is executable: else each pointer to a variable or a string, of
 * which stacks are full, would do for a return address.
 */
#ifndef UMBRA_SERVICE_IMAGE_MAP_H
#define UMBRA_SERVICE_IMAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct address_range {
    uint64_t begin, end;
};

/* That do not overlap, ascending. */
struct address_ranges {
    struct address_range *ranges;
    size_t count, room;
};

struct open_block {
    uint64_t at;
    uint32_t done; /* units */
};

struct image_map {
    pid_t pid;
    int trace; /* borrowed */
    uint64_t capacity;
    uint64_t scanned; /* blocks before this are known */
    struct open_block *open;
    size_t open_count, open_room;
    struct address_ranges images; /* instrumented ones */
    struct address_ranges code;   /* of all images */
};

/* To be called while the process is there. trace is its file, of capacity bytes at most. */
void image_map_open(struct image_map *map, pid_t pid, int trace, uint64_t capacity);
void image_map_close(struct image_map *map);

/* Takes in the modules that have come since. */
void image_map_follow(struct image_map *map);

/* Is it in an instrumented image? */
bool image_map_has(const struct image_map *map, uint64_t address);

/* The first of the words that points to code of an instrumented image; 0 if none does. */
uint64_t image_map_find_code(const struct image_map *map, const uint64_t *words, size_t count);

#endif
