/*
 * Source lines of addresses, and what is inlined there, from DWARF by way of libdwarf.
 *
 * Debug information comes from anywhere, and libdwarf was seen to crash and to hang on files
 * that were damaged. So it runs in a child process with limits of time and memory, which can do
 * nothing but read that file and report (support/confinement.h):
 *
 *      grinder                                child
 *        | -- fork: the sorted addresses ------> |  opens the file
 *        | <- pipe: 'F' length bytes ----------- |  a file name, numbered from 1
 *        | <- pipe: 'L' address file line ------ |  a line found, as places in the list
 *        | <- pipe: 'P' address file line ------ |  of a spot, if the instruction there is of another
 *        |                                       |  line than a function that begins there
 *        | <- pipe: 'D' ------------------------ |  no more lines
 *        | <- pipe: 'N' length bytes ----------- |  a function's name, demangled, numbered from 1
 *        | <- pipe: 'I' outer name file line --- |  an inlined call, numbered from 1: the call that
 *        |                                       |  it is inlined within, or 0; what is called;
 *        |                                       |  where it is called
 *        | <- pipe: 'S' address call ----------- |  the innermost inlined call at an address
 *        | <- end ------------------------------ |  or the grinder's patience ends: kill
 *
 * Numbers are 32 bits wide. A record speaks only of what came before it; file names also come
 * among the inlined calls.
 *
 * What arrived before a crash or the end of patience is kept: a file that trips libdwarf up costs
 * the lines not yet found, not the profile. The grinder checks each record it reads: the child may
 * have been taken over.
 *
 * Inlined calls are a tree, drawn here for an address in clamp, which the compiler inlined into
 * scale, which it inlined into main:
 *
 *      int clamp(int x) { … }                              a.h:7
 *      int scale(int x) { return clamp(2 * x); }           a.h:12
 *      int main(…) { … scale(argc) … }                     a.c:5
 *
 *      line_table_inlined(address) -> { "clamp", a.h:12, depth 2 }
 *                                         | outer
 *                                         v
 *                                     { "scale", a.c:5, depth 1 } -> null: the rest is main's
 */
#ifndef UMBRA_GRINDER_LINES_H
#define UMBRA_GRINDER_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "support/failure.h"

struct line {
    uint32_t file; /* place in line_table.files; 0 if not known */
    uint32_t line;
};

/* A call that was inlined. Addresses of the same inlined call have the same one. */
struct inlined {
    const struct inlined *outer; /* the inlined call that this one is within; null: none */
    const char *name;            /* of the function that is inlined, demangled; "???" if not known */
    struct line call;            /* in the function of outer, or in the one that has a symbol */
    uint32_t depth;              /* 1 for one without outer; up to LINES_MAX_DEPTH */
};

struct line_table {
    uint64_t *addresses; /* ascending, without doubles */
    struct line *lines;  /* of each address */
    size_t count;
    char **files; /* [0] is null */
    size_t file_count;
    unsigned char *is_spot;  /* of each address; null: none is */
    struct line *spot_lines; /* of each address, where not as lines; null as is_spot */
    uint32_t *innermost;     /* of each address: place in inlined, or 0; null as is_spot */
    struct inlined *inlined; /* [0] is none */
    size_t inlined_count;
    char **names; /* of inlined functions; [0] is null */
    size_t name_count;
};

/* Takes over addresses (from malloc) and sorts them. */
void line_table_begin(struct line_table *table, uint64_t *addresses, size_t count);
void line_table_free(struct line_table *table);

/* To be called before lines are read: that address of the table is an instruction, and what is inlined
   there is wanted. */
void line_table_add_spot(struct line_table *table, uint64_t address);

/* Finds the lines of all addresses, and the inlined calls of spots, in the DWARF of the file at path.
   False, with a text without the path, if the child did not finish; what it found is kept. */
bool line_table_read(struct line_table *table, const char *path, struct failure *failure);

/* The place of the first address in the table that is not below; its count if there is none. */
size_t line_table_first(const struct line_table *table, uint64_t address);
/* The line of an address of the table; zeroes if it has none. */
struct line line_table_find(const struct line_table *table, uint64_t address);
/* The line of the instruction at a spot; zeroes if it has none. */
struct line line_table_find_spot(const struct line_table *table, uint64_t address);
/* The innermost inlined call at a spot; null if there is none, or none is known. */
const struct inlined *line_table_inlined(const struct line_table *table, uint64_t address);

/* The child's part (lines_dwarf.c): writes records to pipe. Returns its exit status. */
int lines_dwarf_write(const struct line_table *table, const char *path, int pipe);

/* The grinder's part: takes records from pipe, once a table. True if they came to their end in
   time; failure is filled in then as well, as only the child's exit status tells whether it
   finished. */
bool line_table_take(struct line_table *table, int pipe, struct failure *failure);

/* The records. */
enum {
    LINES_FILE = 'F',      /* uint32_t length, bytes without a terminating zero */
    LINES_LINE = 'L',      /* uint32_t place of the address, uint32_t file, uint32_t line */
    LINES_SPOT = 'P',      /* as LINES_LINE */
    LINES_DONE = 'D',      /* nothing */
    LINES_FUNCTION = 'N',  /* as LINES_FILE */
    LINES_INLINED = 'I',   /* uint32_t outer, uint32_t name, uint32_t file, uint32_t line */
    LINES_INNERMOST = 'S', /* uint32_t place of the address, uint32_t inlined call */
    LINES_MAX_NAME = 4096,
    LINES_MAX_TEXT = 64 << 20, /* all names together, each with 64 bytes more */
    LINES_MAX_INLINED = 1 << 20,
    LINES_MAX_DEPTH = 64,
};

/* What a name counts for in LINES_MAX_TEXT. */
static inline size_t lines_name_cost(size_t length)
{
    return length + 64;
}

#endif
