/* Whether a program's flags matter at a place: where a call returns, or where a function begins. */
#ifndef UMBRA_REWRITER_FLOW_FLAGS_H
#define UMBRA_REWRITER_FLOW_FLAGS_H

#include "rewriter/flow/flow.h"

/* What may become of arithmetic flags, the last that applies. */
enum flow_flags_fate {
    FLAGS_DEAD,     /* they are written before anybody reads them */
    FLAGS_RETURNED, /* the function they are in may return with some of them as they are */
    FLAGS_READ,
};

/* The fates of flags that were found, by address: many call the same function, and several passes ask
   for the same places. */
struct flow_fates {
    struct address_set known[FLAGS_READ + 1]; /* those of each fate */
};

void flow_fates_init(struct flow_fates *fates, const struct code *code);
void flow_fates_free(struct flow_fates *fates);

/* The fate of the flags that there are in front of the instruction at an address. Follows direct
   calls and jumps into other functions; what is called, or jumped to, by a pointer or in another
   image reads none and keeps none. Reads the source's code and functions only, and notes what it finds in its
   fates. */
enum flow_flags_fate flow_flags_fate(const struct flow_source *source, uint64_t address);

#endif
