/*
 * What copies with contexts beside their frames (docs/copies.md) and the agent know of each other.
 * The code of images has these offsets, and those of struct trace_links: who changes one gives
 * IMAGE_VERSION another number.
 *
 * In front of the first instruction of a copied function:
 *
 *      0        4       8      12    16      20
 *      +--------+-------+------+-----+-------+------- -+
 *      | header | index | body | key | links | 0 …     |  struct frame_key
 *      +--------+-------+------+-----+-------+---------+
 *
 * header and body are distances from here: of the image header, and of the stub's body. index is as
 * in a stub (STUB_INDEX). key is what the function's contexts are known by, and links how many call
 * sites have one: of all parts that jump into one another's middles together.
 *
 * A site that calls by a pointer has four links' room: two targets that it knows, what is written
 * beside the callee's slot for each, and where to go on:
 *
 *      0          8          16     32     48     56
 *      +----------+----------+------+------+------+------+
 *      | target 0 | target 1 | link | link | go 0 | go 1 |
 *      +----------+----------+------+------+------+------+
 *
 * Further targets are in a table of the thread's. Others are counted down in the links' `unknown`, in the record of links that has the site: each time
 * that is negative, the call takes the slow path, which looks whether the target that is called now should be
 * one that is known, in place of the one that is called less, or be in the table.
 *
 * go is the target itself, or, in the same image or one that cannot be unloaded, its copy. Of a target that is not copied the link
 * counts nothing: it leads to the caller's own context, as a call out of a copy.
 *
 * Where a call takes the slow path, `call [on_site]` stands with this behind it:
 *
 *      0      4     8        12     14      15
 *      +------+-----+--------+------+-------+---+
 *      | call | own | self   | link | flags | 0 |
 *      +------+-----+--------+------+-------+---+
 *      0      4
 *      +------+------+
 *      | slot | copy |                             only with FRAME_SITE_BOUND
 *      +------+------+
 *
 * call: distance from here to the call, or jump, itself; own: how far the slot of the function's
 * own return address is above the stack pointer there, or above rbp (FRAME_SITE_RBP); self:
 * distance to the function's own key; link: number of the site's link; slot: distance from that first line to a word that the
 * dynamic linker binds by name; copy: distance from what follows it to the copy that is called if it
 * binds the name to this image's own function. r11 is what it is bound to.
 */
#ifndef UMBRA_FRAME_FORMAT_H
#define UMBRA_FRAME_FORMAT_H

#include <stdint.h>

#include "trace/trace_format.h"

/* The stub's body of such a function: a jump to its copy, with a prefix that is of no effect and
   that nothing else has in front of this one. */
#define FRAME_BODY_JUMP 0xe93e

/* flags: a jump out of the function, whose return address is on top of the stack; own counts from rbp;
   not to a copy: what is called is told who calls; by a pointer, which is in r11; to a copy, if the
   dynamic linker binds the function's name to this image's own. */
#define FRAME_SITE_TAIL    1
#define FRAME_SITE_RBP     2
#define FRAME_SITE_OUT     4
#define FRAME_SITE_POINTER 8
#define FRAME_SITE_BOUND   16
/* No call: a return, in front of which instructions are counted. */
#define FRAME_SITE_RETURN  32
/* Instructions are counted: the agent looks at the cells. */
#define FRAME_SITE_COUNTS  64

/* Times of system calls are ticks without so many low bits; those that take up to so many of these,
   which is some 50 us, are not looked at. */
#define WAIT_SHIFT 10
#define WAIT_SHORT 127

/* A word of the shadow: the address of the links of the context of the frame whose return address
   is there. Or, of a call out of a copy, those of its caller, and one of these. */
#define FRAME_CALLED_OUT 1
#define FRAME_JUMPED_OUT 3
#define FRAME_OUT_BITS   3

struct frame_key {
    int32_t header;
    uint32_t index;
    int32_t body;
    uint32_t key, links;
    uint32_t reserved[3];
};

struct frame_site {
    int32_t call, own, self;
    uint16_t link;
    uint8_t flags, reserved;
};

struct frame_bound_site {
    struct frame_site site;
    int32_t slot, copy;
};

/* A thread's, from header.frames on. */
struct frame_words {
    uint64_t low;          /* of its own stack, where the shadow begins */
    uint64_t size;         /* bytes of it; 0: nothing is counted in copies */
    uint64_t shadow;       /* where the shadow begins */
    uint64_t note;         /* 8 above the slot of the last call out of a copy */
    uint32_t wait;         /* when the last system call of a copy began */
    uint32_t further_mask; /* of the table that follows */
    uint64_t further;      /* struct further_target[]; 0: there are none */
};

/*
 * Where copies count instructions (--count=instructions), what the frame that runs has executed and its context
 * does not have yet is the sum of some words of the thread's, in turn, as a processor takes some time before it
 * can add to a word again. They lie in glibc's thread control block, so that one instruction adds to them, in any
 * thread, from its first instruction on:
 *
 *      0                                  0x80              0x240   0x250  0x258       0x280
 *      +----------------------------------+-----------------+-------+------+-----------+-----
 *      | the block's address, canary, …   | unused          | cells | lane | unused    | …
 *      +----------------------------------+-----------------+-------+------+-----------+-----
 *      fs
 *
 * lane: how far from an image's words that count blocks those of this thread are (IMAGE_LANES).
 *
 * What is unused there saved registers in old releases, and stays, since sanitizers know the block's size.
 */
#define FRAME_COUNTS_AT 0x240
#define FRAME_LANE_AT   0x250
#define FRAME_CELLS     2

struct frame_counts {
    uint64_t cells[FRAME_CELLS];
    uint64_t lane;
};

/* What a site that calls by a pointer has in place of so many links. */
#define POINTER_LINKS 4

#define POINTER_NO_TARGET 1

struct pointer_links {
    uint64_t targets[2]; /* 0: none yet; POINTER_NO_TARGET: none, since most calls are to further ones */
    struct trace_link links[2];
    uint64_t go[2];
};

/* Further targets of sites that call by a pointer (hooks/further_targets.h); jumps have none. */
struct further_target {
    uint64_t site;   /* address of its struct pointer_links; 0: the entry is free. Stored last */
    uint64_t target; /* what the pointer is */
    struct trace_link *link;
    _Alignas(8) uint64_t go; /* the copy that is called */
};

#define FURTHER_PLACES 2
#define FURTHER_HASH   0x9e3779b1 /* with its sign: 32 bits of an instruction */

_Static_assert(sizeof(struct frame_key) == 32, "key");
_Static_assert(sizeof(struct frame_site) == 16, "site");
_Static_assert(sizeof(struct frame_words) == 48, "words");
_Static_assert(sizeof(struct pointer_links) == POINTER_LINKS * sizeof(struct trace_link), "four links");
_Static_assert(sizeof(struct further_target) == 32, "further target");

#endif
