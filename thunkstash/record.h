/* What is known of one invocation, beside its thunk: layout.h. The same for every processor. */
#ifndef UMBRA_THUNKSTASH_RECORD_H
#define UMBRA_THUNKSTASH_RECORD_H

#include <stdint.h>

#include "thunkstash/layout.h"

struct trace_node;
struct stash;

struct record {
    uint64_t ret;            /* the true return address */
    uint64_t body;           /* where the thunk's call goes */
    uint64_t t0;             /* ticks at entry; negative: not timed, the tick at entry */
    uint64_t slot;           /* of the return address, + SLOT_BIAS; else no live invocation */
    _Alignas(8) struct trace_node *node; /* the invocation's context */
    _Alignas(8) uint64_t weight; /* of a timed one: calls that it stands for */
    uint64_t mark;           /* MARK_…: what of it was counted */
    union {
        struct record *below; /* caller's record, on a stash without order; null if unknown */
        struct stash *owner;  /* in a sentinel */
        uint64_t parked;      /* of a parked record: what its slot was */
    };
};

_Static_assert(sizeof(struct record) == THUNK_SIZE, "a record has its thunk's stride");

#endif
