/*
 * Functions whose flags somebody may read once they have returned, or that have to leave flags as
 * they are: assembly's. Compilers make none, but what they do not make is called by what they make.
 *
 *      pick:   ...                     ask:    call  pick
 *              and   eax, 1                    je    even
 *              ret
 *
 * What stands in place of `ret` in a copy changes flags, and so does what stands in front of it.
 */
#ifndef UMBRA_REWRITER_FLOW_RESULTS_H
#define UMBRA_REWRITER_FLOW_RESULTS_H

#include "rewriter/flow/flow.h"

/* How it is known; words: flow_result_word. */
enum flow_result {
    RESULT_NONE,
    RESULT_CALLED, /* flags are read behind a direct call of it, or through the image's own import
                    */
    RESULT_HANDED_ON, /* such a function returns what this one has left */
    RESULT_STRANGER,  /* others may call it; it has no frame description and ends as if flags
                         mattered */
    RESULT_POINTER,   /* likewise, or without one of both, where flags are read behind a call by a
                         pointer */
    FLOW_RESULTS
};

const char *flow_result_word(enum flow_result result);

/* A place where flags are read behind a call whose target is not known. */
struct flow_result_call {
    uint64_t address; /* behind the call */
    uint64_t slot;    /* of the import that is called, 0 if it is none */
};

/* {0} is an empty one; flow_results_free ends it. */
struct flow_results {
    uint8_t *items;                 /* of each function of the list: enum flow_result */
    struct flow_result_call *calls; /* ascending */
    size_t call_count, call_room;
};

/* Looks at the calls of all functions, hooked or not, copied or not. */
void flow_results_find(struct flow_results *results, const struct flow_source *source);
void flow_results_free(struct flow_results *results);

#endif
