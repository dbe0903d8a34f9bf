/*
 * The basic blocks of a member, and where control goes between them: what counting needs to know
 * (copy_count.h, copy_ways.h). A block ends where control may go elsewhere, calls included, and where it may come
 * from elsewhere; so all of its instructions run as often as its first one.
 *
 * Blocks lead from one place, where ways meet, to another. A forest over these places tells how they depend on
 * each other. The ground is where control comes from, or goes to, that is not seen: entries, calls, returns.
 */
#ifndef UMBRA_REWRITER_COPY_NODES_H
#define UMBRA_REWRITER_COPY_NODES_H

#include "rewriter/code/decode.h"
#include "rewriter/copy/copy_plan.h"
#include "rewriter/copy/copy_target.h"
#include "rewriter/flow/flow.h"

#define COPY_MOST_DEPTH 15 /* that is told from less */
#define COPY_NO_BLOCK   UINT32_MAX

enum copy_end {
    END_ON,       /* to the next */
    END_JUMP,     /* to a block */
    END_BRANCH,   /* to a block, or on */
    END_AWAY,     /* to code where 0 is pending */
    END_AWAY_IF,  /* that, or on */
    END_COUNT,    /* all is counted: a jump that leaves */
    END_RETURN,   /* all is counted, but for what is always so */
    END_COUNT_IF, /* a jump that leaves, or on */
    END_CALL,     /* all is counted, and it goes on with nothing pending */
    END_STOP,
};

/* A block while its member is looked at. */
struct copy_node {
    uint32_t offset;
    uint32_t target; /* of END_JUMP and END_BRANCH: an offset, later a block */
    int32_t instructions;
    uint8_t end;     /* enum copy_end */
    int32_t depth;   /* loops around it; before that: how many begin here, less those that ended */
    bool is_entered; /* from elsewhere, or a call returns there */
    bool is_reached;
    bool is_near; /* the return address is at a known distance where it begins */
    uint8_t held; /* cells that may be other than 0 where it begins (copy_count.h) */
    /* The forest: what is pending where it begins, less the same of `parent`. */
    uint32_t parent;
    int32_t above;
};

struct copy_nodes {
    const struct copy_plan *plan;
    const struct patch_plan *patches;
    const struct function *function;
    uint32_t member;
    const uint8_t *bytes;
    ZydisDecoder decoder;
    struct copy_slots slots;
    struct flow_fates *fates;
    uint64_t *joins;    /* a bit for each byte: a branch of the member leads there */
    struct copy_node *items; /* one more than there are: the ground */
    uint32_t count;
    size_t room;
};

/* Notes in plan->entered where control may come to what is copied from elsewhere. */
void copy_nodes_find_entered(struct copy_plan *plan, const struct flow_source *source);

/* The blocks of a member of the plan that is copied, ascending, each a tree of its own. visit, which may be null,
   sees each instruction that ends a block. copy_nodes_free ends it. */
void copy_nodes_read(struct copy_nodes *nodes, const struct copy_plan *plan,
                     const struct patch_plan *patches, struct flow_fates *fates, uint32_t member,
                     void (*visit)(void *user, const struct instruction *at, uint8_t end),
                     void *user);
void copy_nodes_free(struct copy_nodes *nodes);

/* To the block that follows, which behind the last is the ground. */
static inline bool copy_node_goes_on(const struct copy_node *node)
{
    return node->end == END_ON || node->end == END_BRANCH || node->end == END_AWAY_IF ||
           node->end == END_COUNT_IF;
}

/* A block that stands for all that this one leads to; COPY_NO_BLOCK if there is none. */
uint32_t copy_nodes_behind(const struct copy_nodes *nodes, uint32_t block);

/* The depth that counts for the order in which blocks are joined: -1 of one that nothing leads to, which comes
   last. */
int copy_node_order(const struct copy_node *node);

/* The tree's root; *above: what is pending at the block, less the same there. */
uint32_t copy_nodes_root(const struct copy_nodes *nodes, uint32_t block, int32_t *above);

/* Makes one place of those that a block leads to, and of those where control comes from the ground. With
   `exits_lead_there`, a jump that leaves leads to the ground. */
void copy_nodes_join_alternatives(struct copy_nodes *nodes, bool exits_lead_there);

/* What is pending at `to` is to be `more` than at `from`. False: one depends on the other already. */
bool copy_nodes_join(struct copy_nodes *nodes, uint32_t from, uint32_t to, int32_t more);

#endif
