/* Which values reach a function's indirect jumps, and where these lead. */
#ifndef UMBRA_REWRITER_FLOW_WALK_H
#define UMBRA_REWRITER_FLOW_WALK_H

#include "rewriter/flow/flow_tables.h"

enum jump_kind {
    JUMP_UNKNOWN,
    JUMP_TABLE,   /* by tables[table] */
    JUMP_LEAVES,  /* a tail call: the return address is on top of the stack */
    JUMP_POINTER, /* by an address that was loaded or given as a whole: to a label, if any */
};

struct jump {
    uint32_t offset;
    uint8_t kind; /* enum jump_kind */
    uint32_t table;
};

struct flow_walk {
    struct jump *jumps; /* all indirect ones, ascending */
    size_t jump_count, jump_room;
    struct table *tables;
    size_t table_count, table_room;
};

/* Offsets are in the function, ascending; an instruction begins at each. */
struct flow_entries {
    const uint32_t *pads; /* where control comes from outside, and nothing is known */
    size_t pad_count;
    const uint32_t *labels; /* where jumps by pointers may lead */
    size_t label_count;
};

/* How far to go for the values that jumps go by. */
enum flow_effort {
    FLOW_ALL_CALLS_RETURN, /* which most jumps do not mind */
    FLOW_SOME_NEVER_RETURN,
};

/* False if it would take too much. flow_walk_free ends it, then too. */
bool flow_walk(struct flow_walk *walk, struct table_reader *reader,
               const struct flow_entries *entries, enum flow_effort effort);
void flow_walk_free(struct flow_walk *walk);

#endif
