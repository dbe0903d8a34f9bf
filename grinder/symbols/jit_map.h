/*
 * Code that a program made while it ran, as the program itself told about it: names of address
 * ranges, and where they came from in the source.
 *
 *      perf map    one line a range              "7f52980 378 JS:~rounds /home/me/script.js:7:16"
 *      jitdump     records with times            jit_dump.c
 *
 * Code that is thrown away leaves its addresses to other code. A profile has no times for its call
 * sites, so of two ranges that overlap the one told about later has the addresses that both had.
 *
 * Addresses of 64 bits become rvas of 32, as images have them, by laying the ranges one behind the
 * other in the order in which they were told:
 *
 *      addresses   … | b b b b | … | a a a | … | c c c c c | …
 *      rvas        0 | a a a | b b b b | c c c c c |
 *
 * Maps are found in folders where anybody can write. They are read by bounds; what is wrong with a
 * line or a record costs that one, and is counted.
 */
#ifndef UMBRA_GRINDER_JIT_MAP_H
#define UMBRA_GRINDER_JIT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/base/pair_index.h"
#include "grinder/symbols/lines.h"

#define JIT_NAME_SIZE 1024 /* bytes of a name, its zero included; cut if longer */

/* From this byte of the code on it is this line. */
struct jit_line {
    uint64_t offset;
    uint32_t file; /* place in jit_map.files */
    uint32_t line;
};

struct jit_code {
    uint64_t start, size; /* size > 0, the end does not wrap */
    char *name;           /* printable */
    uint32_t rva;         /* of its first byte */
    uint32_t function;    /* the first code of the same name */
    struct jit_line *lines;
    size_t line_count;
    bool is_again; /* name and lines are those of another code */
};

struct jit_map {
    struct jit_code *codes; /* in the order in which they were told */
    size_t count, room;
    char **files; /* [0] is null */
    size_t file_count, file_room;
    size_t bad;   /* lines or records left out */
    uint32_t pid; /* of the process that a jitdump is about; 0: not said */
    uint32_t next_rva;
    /* Once settled: the address space in pieces, piece i from bounds[i] to bounds[i + 1]. */
    uint64_t *bounds;
    uint32_t *owners; /* of each piece: 1 + code, 0 if it is none's */
    size_t bound_count;
};

void jit_map_free(struct jit_map *map);

/* The code at an address; null if there is none. */
const struct jit_code *jit_map_find(const struct jit_map *map, uint64_t address);

/* Fills in the lines of the table's addresses, which are rvas of this map. */
void jit_map_lines(const struct jit_map *map, struct line_table *table);

/* For the readers. jit_map_add copies the name; null and counted in bad if there can be no such
   code. The result lasts until the next one is added. */
struct jit_code *jit_map_add(struct jit_map *map, uint64_t start, uint64_t size, const char *name,
                             size_t name_size);
/* Adds a code that was there before, elsewhere. */
struct jit_code *jit_map_add_again(struct jit_map *map, uint64_t start, uint64_t size,
                                   size_t before);
uint32_t jit_map_file(struct jit_map *map, const char *name, size_t size);
/* All is told: to be called once, before anything is looked for. */
void jit_map_settle(struct jit_map *map);

#endif
