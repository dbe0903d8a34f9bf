/* The instructions of a function: where each begins, and where direct branches lead. */
#ifndef UMBRA_REWRITER_FLOW_BODY_H
#define UMBRA_REWRITER_FLOW_BODY_H

#include "rewriter/code/decode.h"
#include "rewriter/flow/flow.h"

/* Offsets are from the function's first byte. */
struct flow_body {
    const struct code *code;
    uint64_t address;
    const uint8_t *bytes;
    uint32_t size;
    uint64_t *starts;  /* a bit for each byte, set where an instruction begins */
    uint64_t *joins;   /* a bit for each byte, set where its direct branches lead */
    uint32_t padding;  /* offset of what fills it up to its end; size if nothing does */
    uint32_t *targets; /* of direct branches that stay within, in the order of these */
    size_t target_count, target_room;
    uint32_t *calls; /* offsets behind calls */
    size_t call_count, call_room;
    uint32_t *taken; /* offsets within of which a lea takes the address */
    size_t taken_count, taken_room;
    bool has_jump; /* an indirect one, but through [rip + n] */
};

/* Reads a function's instructions, and checks all that takes no knowledge of values. */
enum flow_doubt flow_body_read(struct flow_body *body, const struct flow_source *source,
                               const struct function *function);
void flow_body_free(struct flow_body *body);

static inline bool flow_body_holds(const struct flow_body *body, uint64_t address)
{
    return address - body->address < body->size;
}

/* Whether an instruction begins at that address. */
static inline bool flow_body_starts(const struct flow_body *body, uint64_t address)
{
    uint64_t at = address - body->address;

    return at < body->size && body->starts[at / 64] >> at % 64 & 1;
}

#endif
