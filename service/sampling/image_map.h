/*
 * Where the instrumented images of a recorded process lie, and the calls in them.
 *
 * Images are in its trace, in blocks of modules that the agent adds while the process runs. What
 * was read once is not read again, but for a block that may still get modules:
 *
 *      block   0         1        2         3         4       5
 *              thread    modules  nodes     (kind 0)  nodes   not handed out
 *      open              from unit 40       yes               <- scanned
 *
 * A stack is full of words that point into an image and are no return addresses: pointers to
 * variables, strings and functions. A word is taken for a return address if it points to memory of
 * the image that is executable, and a call ends right before that place. The system tells what is
 * executable, the mapped file what ends there. A condition is left out if it cannot be checked,
 * since the process or its file is gone.
 */
#ifndef UMBRA_SERVICE_IMAGE_MAP_H
#define UMBRA_SERVICE_IMAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define IMAGE_MAP_VERDICTS 1024 /* a power of two */

struct image_code;

/* Where an instrumented image, or the agent, lies. */
struct image_range {
    uint64_t begin, end;
    bool is_agent;
    bool has_code; /* it is known which part of it is code */
};

struct open_block {
    uint64_t at;
    uint32_t done; /* units */
};

struct image_map {
    pid_t pid;
    unsigned word_size; /* of its stack, in bytes: 8, or 4 */
    int trace; /* borrowed */
    uint64_t capacity;
    uint64_t scanned; /* blocks before this are known */
    struct open_block *open;
    size_t open_count, open_room;
    struct image_range *images; /* ascending; they do not overlap */
    size_t image_count, image_room;
    struct image_code *code; /* of all images; ascending, they do not overlap */
    size_t code_count, code_room;
    uint64_t verdicts[IMAGE_MAP_VERDICTS]; /* addresses, with a bit: a call ends there */
};

/* To be called while the process is there. trace is its file, of capacity bytes at most. */
void image_map_open(struct image_map *map, pid_t pid, int trace, uint64_t capacity);
void image_map_close(struct image_map *map);

/* Takes in the modules that have come since; of a trace that grew by more than 16 MB, those of the
   first 16. */
void image_map_follow(struct image_map *map);

/* Is it in an instrumented image, or in the agent? */
bool image_map_has(const struct image_map *map, uint64_t address);

/* The first of the words, of the process's size, that may be a return address in an instrumented image; 0 if none is.
   There are as many as in `count` of 8 bytes. */
uint64_t image_map_find_return(struct image_map *map, const uint64_t *words, size_t count);

#endif
