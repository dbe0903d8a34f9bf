/*
 * The copies of functions' bodies, and where each instruction went. docs/copies.md draws what a
 * copy consists of.
 */
#ifndef UMBRA_REWRITER_COPY_SET_H
#define UMBRA_REWRITER_COPY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where instructions went that lie side by side in the function, and in its copy, too: those from here
   to the next move's. Both are offsets, from the function's first byte and from the copy's. What was put
   in front of an instruction belongs to it, and so is one that begins. */
struct copy_move {
    uint32_t from, to;
};

/* The copy of a function or of a fragment; it keeps the order of the original's instructions. Or what
   stands behind all copies for its calls. */
struct copy {
    uint64_t address; /* of the copy: a function's key, then its first instruction */
    uint32_t size;
    uint32_t function; /* place in the function list */
    size_t first_move, move_count;
    uint32_t body; /* where the copy of the first instruction is: an offset */
    bool is_slow;  /* moves lead from calls, and nothing else is there */
    int32_t returned; /* instructions that a call executes which returns, and no context counts (copy_count.h) */
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

/* Instructions of the original that run one after the other: copy_blocks.h. */
struct copy_block {
    uint64_t original; /* address of the first */
    uint32_t size;     /* bytes; 0: it is padding, which never runs */
    uint32_t from, to; /* if blocks are counted: places of the image, from 1, or COPY_GROUND (copy_ways.h) */
    bool counts;       /* it is counted itself */
};

/* {0} is an empty one; copy_set_free ends it. */
struct copy_set {
    struct copy *items; /* ascending by address, and by function */
    size_t count, room;
    struct copy *slow; /* ascending by address, and by function */
    size_t slow_count, slow_room;
    struct copy_move *moves;
    size_t move_count, move_room;
    struct copy_site *sites; /* ascending by copy */
    size_t site_count, site_room;
    struct copy_stretch *stretches; /* ascending by address */
    size_t stretch_count, stretch_room;
    struct copy_block *blocks; /* in the order of the bytes that they set, or the words that they add to */
    size_t block_count, block_room;
    size_t counted; /* blocks that are */
    bool has_lanes; /* in each thread */
    uint32_t places; /* that their ways lead to, but for the ground */
};

/* The copy of a function; null if it has none. */
const struct copy *copy_set_of(const struct copy_set *set, uint32_t function);

/* Where the instruction that begins at `from` bytes of the function is in the copy, as an offset; of
   what is slow, what stands there for the first call from there on. The function's size leads to the copy's size. */
uint32_t copy_set_moved(const struct copy_set *set, const struct copy *copy, uint32_t from);

/* Adds the next move of what is being copied; `first` is its first one. One that says nothing new is not kept. */
void copy_set_add_move(struct copy_set *set, size_t first, size_t from, size_t to);
void copy_set_add_stretch(struct copy_set *set, uint64_t address, uint64_t end);
/* Returns the block's number; its size is still to come. */
size_t copy_set_add_block(struct copy_set *set, uint64_t original);
void copy_set_free(struct copy_set *set);

#endif
