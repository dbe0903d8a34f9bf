/*
 * Where control goes within a function: what must be certain before its body can be copied.
 *
 * A function is certain if every way from each of its instructions is known. Then a copy runs the
 * same way. A jump through a table is known if the table is: what it holds, and that nothing else
 * is looked up there.
 */
#ifndef UMBRA_REWRITER_FLOW_H
#define UMBRA_REWRITER_FLOW_H

#include "rewriter/code/code.h"

/* Why a function's body is not copied. Words: flow_doubt_word. */
enum flow_doubt {
    FLOW_CERTAIN = 0,
    FLOW_UNDECODABLE,  /* bytes that are no instructions, or data between them */
    FLOW_MISALIGNED,   /* a branch into the middle of an instruction */
    FLOW_OPEN_END,     /* control goes on behind its last instruction */
    FLOW_UNKNOWN_JUMP, /* an indirect jump that is no tail call, and by no table that is known */
    FLOW_LABEL,        /* the address of an instruction is taken, and no table tells by whom */
    FLOW_ENTERED,      /* called, or jumped to, in its middle from a function of another family */
    FLOW_UNMOVABLE,    /* an instruction that works at its own address only, or leaves by a way
                          that cannot be seen (transactions) */
    FLOW_FLAGS,        /* flags are alive where it calls or jumps out, or may be */
    FLOW_STACK,        /* where the return address lies at a call or a jump out is not known */
    FLOW_FRAMES,       /* its unwind information cannot be carried over */
    FLOW_NO_ROOM,      /* no trampoline fits where it is needed */
    FLOW_TIMED,        /* its calls are to be timed, each of them: by the hooks of its prologue */
    FLOW_FAMILY,       /* another member of it is not certain */
    FLOW_DOUBTS
};

const char *flow_doubt_word(enum flow_doubt doubt);

/*
 * A jump table that a function jumps through.
 *
 *      entry_size 4    each entry is a distance from origin
 *      entry_size 8    each entry is an address, in words that the loader relocates, or, in code
 *                      that is linked to a fixed address, as it stands
 */
struct flow_table {
    uint64_t jump;    /* address of the indirect jump */
    uint64_t address; /* of the first entry */
    uint64_t origin;
    uint32_t count;
    uint8_t entry_size;
    /* Proven by a comparison, or each word is an address, relocated or as it stands. If not,
       entries are read as long as they fit: the table must not be written, and every target needs a
       trampoline. */
    bool is_bounded;
};

/*
 * {0} is an empty one; flow_free ends it.
 *
 * Entries of a table lead into the function, into another member of its family, or elsewhere: to the
 * end of the function or to what lies behind it (the compiler knew that they are never looked up),
 * to the start of another function, or, of 8 bytes, nowhere. Only the first two are to be changed.
 *
 * A function and its fragments may jump by the same table, as CPython's interpreter does: each of
 * them has it. Tables of a function that are bounded and overlap count from the same origin. One
 * that is not bounded may reach into another function's. So every entry is to be read before one is
 * written, and a table that other families have, too, is not to be written.
 *
 * Labels are addresses within the function that words outside of its tables hold, or that code
 * takes, while it has an indirect jump that such an address may come to. Each needs a trampoline,
 * as the targets of tables that are not bounded do. So does a fragment's first byte if its address
 * is held or taken anywhere: what is no sure function counts as a fragment, and may be called.
 */
struct flow {
    enum flow_doubt doubt;
    struct flow_table *tables; /* of all indirect jumps but tail calls and those to labels;
                                  ascending by address, none twice */
    size_t table_count, table_room;
    uint64_t *labels; /* ascending, each once */
    size_t label_count, label_room;
};

/* What is the same for all functions of an image. */
struct flow_source {
    const struct code *code;
    const struct code_map *map;
    const struct function_list *functions;
    /* Words that the loader fills in with the address of a function by its name: ascending by slot. */
    const struct flow_import {
        uint64_t slot;
        uint64_t target;    /* the image's own of that name, which the loader may take, or 0 */
        bool never_returns; /* known by the name, of another image's: flow_returns.h */
    } *imports;
    size_t import_count;
    /* Words of data that the loader makes addresses of code: where they are, and what they hold.
       Ascending by slot. A target that symbols lead to, and no word, has the slot 0. */
    const struct flow_pointer {
        uint64_t slot, target;
    } *pointers;
    size_t pointer_count;
    const uint32_t *by_target; /* indexes of all pointers, ascending by target */
    /* Landing pads, and other addresses that unwind information leads to: ascending. */
    const uint64_t *pads;
    size_t pad_count;
    struct flow_fates *fates; /* what flow_flags_fate has found so far, or null */
    uint8_t *returns;         /* of each function, what flow_never_returns has found so far, or null */
};

/* Analyses a function or a fragment, by itself: FLOW_ENTERED, flags that others read, and what comes
   behind FLOW_FLAGS are others' to find (copy/, flow_keepers.h). Of one that is not certain there
   are neither tables nor labels. */
void flow_read(struct flow *flow, const struct flow_source *source,
               const struct function *function);
void flow_free(struct flow *flow);

/* Where an entry of a table leads; 0 if it is not there. */
uint64_t flow_table_target(const struct flow_source *source, const struct flow_table *table,
                           uint32_t entry);

#endif
