/*
 * The copies of functions' bodies, and where each instruction went. docs/copies.md draws what a
 * copy consists of.
 */
#ifndef UMBRA_REWRITER_COPY_SET_H
#define UMBRA_REWRITER_COPY_SET_H

#include <stddef.h>
#include <stdint.h>

/* An instruction: both are offsets, from the function's first byte and from the copy's. What was
   put in front of an instruction belongs to it. The last one of a copy is the function's end. */
struct copy_move {
    uint32_t from, to;
};

/* The copy of a function or of a fragment; it keeps the order of the original's instructions. */
struct copy {
    uint64_t address; /* of the copy: a function's key, then its first instruction */
    uint32_t size;
    uint32_t function; /* place in the function list */
    size_t first_move, move_count;
    uint32_t body; /* where the copy of the first instruction is: an offset */
};

/* A return address in a copy, and the one in the original that it stands for. */
struct copy_site {
    uint64_t copy, original;
};

/* What stands in front of a call, or a jump, in a copy, and counts it. */
struct copy_stretch {
    uint64_t address;
    uint32_t size;
};

/* {0} is an empty one; copy_set_free ends it. */
struct copy_set {
    struct copy *items; /* ascending by address, and by function */
    size_t count, room;
    /* What stands behind all copies for the calls of one; ascending by address, and by function.
       Its moves lead from the calls. */
    struct copy *slow;
    size_t slow_count, slow_room;
    struct copy_move *moves;
    size_t move_count, move_room;
    struct copy_site *sites; /* ascending by copy */
    size_t site_count, site_room;
    struct copy_stretch *stretches; /* ascending by address */
    size_t stretch_count, stretch_room;
};

/* The copy of a function; null if it has none. */
const struct copy *copy_set_of(const struct copy_set *set, uint32_t function);

/* Where the instruction at `from` bytes of the function is in the copy, as an offset; UINT32_MAX if
   none begins there. The function's size leads to the copy's size. */
uint32_t copy_set_moved(const struct copy_set *set, const struct copy *copy, uint32_t from);

void copy_set_add_move(struct copy_set *set, size_t from, size_t to);
void copy_set_add_stretch(struct copy_set *set, uint64_t address, uint64_t end);
void copy_set_free(struct copy_set *set);

#endif
