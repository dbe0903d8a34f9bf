/*
 * Where control leaves a copy: calls, jumps out of the function and returns. Each has in front what counts it
 * (frame_code.h), and leads to a copy, to a stub, or to where the original leads.
 */
#ifndef UMBRA_REWRITER_COPY_EXITS_H
#define UMBRA_REWRITER_COPY_EXITS_H

#include "rewriter/code/decode.h"
#include "rewriter/copy/copy_count.h"
#include "rewriter/copy/copy_plan.h"
#include "rewriter/copy/copy_target.h"
#include "rewriter/copy/copy_writer.h"
#include "rewriter/copy/frame_code.h"

struct copy_exits {
    struct copy_writer *writer;
    const struct copy_plan *plan;
    const struct patch_plan *patches;
    struct frame_code *frames;
    struct redirect *redirects; /* ascending by field */
    ZydisDecoder decoder;
    /* Of the function that is copied, the caller's to set: */
    size_t member;
    struct copy_slots slots;
    const struct count_block *block; /* that the instruction is in; null: instructions are not counted */
    int32_t returned;                /* copy_count.h */
};

void copy_exits_begin(struct copy_exits *exits, struct copy_writer *writer, const struct copy_plan *plan,
                      const struct patch_plan *patches, struct frame_code *frames);
void copy_exits_free(struct copy_exits *exits);

/* An instruction of the original, and what it is to lead to in its copy. */
struct copy_instruction {
    const struct instruction *at;
    const uint8_t *bytes;
    uint64_t target; /* of a direct branch or a rip-relative operand */
    const struct function *import; /* hooked, that it leads to; or null */
};

struct copy_instruction copy_exits_instruction(const struct copy_exits *exits, const struct instruction *at,
                                               const uint8_t *bytes);

/* The same bytes, but for a rip-relative operand and the distance of a direct call. */
void copy_put_same(struct copy_writer *writer, const struct copy_instruction *source);

void copy_exits_put_call(struct copy_exits *exits, const struct copy_instruction *source);
/* Of a direct jump that leaves, with or without a condition: what is to be done if it does. */
void copy_exits_put_jump(struct copy_exits *exits, const struct copy_instruction *source);
void copy_exits_put_indirect_jump(struct copy_exits *exits, const struct copy_instruction *source);
/* What stands in front of a return. */
void copy_exits_put_return(struct copy_exits *exits, uint64_t address);

#endif
