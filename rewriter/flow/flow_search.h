/*
 * What flow_registers.c looks through: blocks of instructions of all functions, what each reads before it writes
 * it, and where it leads. flow_search_read.c makes the blocks, flow_search_link.c finds out where they lead.
 */
#ifndef UMBRA_REWRITER_FLOW_SEARCH_H
#define UMBRA_REWRITER_FLOW_SEARCH_H

#include "rewriter/code/decode_plain.h"
#include "rewriter/flow/flow_body.h"
#include "rewriter/flow/flow_uses.h"

struct flow_registers_scope;

#define FARTHEST (UINT32_MAX - 1) /* from the first byte of code */
#define NOWHERE  UINT32_MAX

/* r10 and r11 are nobody's arguments; but a pointer may be called with a static chain in r10. */
#define READ_BY_OTHERS (REGISTERS_FREE & ~(REGISTER_R10 | REGISTER_R11))

/*
 * Two sets of registers in one: those that are alive, if nothing is where the function returns,
 * and, in the upper half, those that are if all are. If some are alive there:
 *
 *      alive = lower | (upper & alive where it returns)
 *
 * as each register goes its own way. So what one caller needs is not asked of another.
 */
#define ALIKE(set) ((uint32_t)(set)*0x10001u)
#define AT_RETURN  ((uint32_t)REGISTERS_FREE << 16)

enum block_kind {
    BLOCK_ON,        /* to the next */
    BLOCK_JUMP,      /* within the function */
    BLOCK_CONDITION, /* within the function, or on */
    BLOCK_TABLE,     /* to one of some ways */
    BLOCK_RETURN,
    BLOCK_STOP,
    /* sites: */
    BLOCK_CALL,
    BLOCK_LEAVE,
    BLOCK_LEAVE_IF, /* or on */
};

/* What a block leads to; `target` of a block, or of a way, is its index. */
enum place {
    PLACE_UNKNOWN,    /* reads all */
    PLACE_BLOCK,      /* of the same function */
    PLACE_MIDDLE,     /* a block of another */
    PLACE_FUNCTION,   /* one that is certain */
    PLACE_OWN_IMPORT, /* one that is certain, or what another image has of its name */
    PLACE_IMPORT,
    PLACE_POINTER,
    PLACE_ANYWHERE,   /* by a pointer, most likely in the same function */
    PLACE_DESCRIPTOR, /* perhaps thread-local storage's, which keeps all but rax */
    PLACE_ADDRESS,    /* not looked up yet: `target` is a distance from the first byte of code */
};

struct block {
    uint32_t offset; /* from the first byte of code */
    uint32_t target;
    uint32_t alive; /* in front of it */
    uint16_t reads, writes;
    uint8_t kind, place;
};

/* A way of a jump by a table, or by all that a function has. */
struct way {
    uint32_t target;
    uint8_t place;
};
struct body {
    uint32_t first, end; /* its blocks; none if it was not read */
    uint16_t returned;   /* alive at its returns */
    uint32_t entry;      /* alive where it is called */
    uint16_t written;    /* by some instruction */
    uint16_t given;      /* read in it, and written by no instruction that stands above */
    bool is_compiled;    /* not assembly, most likely */
    bool is_vague;       /* has a jump that may lead anywhere in it */
    bool is_joined;      /* others jump into its middle */
    bool has_loop;       /* a block leads to itself or to one above, or may */
    bool is_waiting;
};

struct search {
    const struct flow_registers_scope *scope;
    const struct flow_source *source;
    const struct function_list *functions;
    uint64_t base;
    ZydisDecoder decoder, full_decoder;
    struct body *bodies; /* of each function */
    struct block *blocks;
    size_t block_count, block_room;
    /* Ways of a block begin at its target with one whose target is their number. */
    struct way *ways;
    size_t way_count, way_room;
    /* Who leads into each function: users[first_user[i]] and so on, up to the next one's. */
    uint32_t *first_user, *users;
    uint32_t *waiting; /* a ring of all functions */
    size_t waiting_first, waiting_count;
    int64_t work_left; /* blocks and ways to look at */
};
static inline uint32_t flow_search_distance(const struct search *search, uint64_t address)
{
    return address - search->base < FARTHEST ? (uint32_t)(address - search->base) : NOWHERE;
}

static inline bool is_site(uint8_t kind)
{
    return kind >= BLOCK_CALL;
}

/* Reads all functions that can be: their blocks, in the order of their addresses. */
void flow_search_read(struct search *search);

/* Which blocks and functions they lead to; who leads to each function; and what code that was not read may
   expect of functions where they return. */
void flow_search_link(struct search *search);

/* The function that a block or a way leads to; the function count if it leads to none. */
size_t flow_search_function_of(const struct search *search, uint32_t target, uint8_t place);

#endif
