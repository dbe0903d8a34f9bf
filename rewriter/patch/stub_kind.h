/* What the stubs of a processor are: stub.h, trace/image_manifest.h. */
#ifndef UMBRA_REWRITER_STUB_KIND_H
#define UMBRA_REWRITER_STUB_KIND_H

#include "rewriter/patch/stub_code.h"

/* From `at` on, the stack pointer is `lower` bytes lower than at the start. */
struct stub_row {
    uint8_t at, lower;
};

#define STUB_ROWS 6

/* call_rows of x86-64: by 8, by 16, by 8. */
#define STUB_CALL_PUSHED  6
#define STUB_CALL_SAVED   7
#define STUB_CALL_LEAVING 20

struct stub_kind {
    const uint8_t *frame; /* processor->stub_frame_size bytes; what stub_bind fills in is 0 */
    uint8_t hook_field;   /* in it: the distance of the hook word */
    uint8_t hook_origin;  /* from there */
    /* Where it and a displaced call move the stack pointer; those behind the last have an `at` of 0. */
    struct stub_row frame_rows[STUB_ROWS], call_rows[STUB_ROWS];
    uint8_t call_leaving; /* offset of the jump in a displaced call */
    /* The body of an import's stub: a jump through the slot at an address. Null: imports have none. */
    void (*put_import)(struct stub_segment *stubs, uint64_t slot);
    /* Whether an instruction can be moved at all. */
    bool (*is_movable)(const struct instruction *at);
    /* Puts, for a displaced call of a get_pc_thunk, what gives its result; control goes on behind it. */
    void (*put_pc)(struct stub_segment *stubs, const struct instruction *at, const uint8_t *thunk);
    /* Puts a displaced call. */
    void (*put_call)(struct stub_segment *stubs, const struct instruction *at, const uint8_t *bytes);
};

extern const struct stub_kind stub_kind_x86_64, stub_kind_i386;

const struct stub_kind *stub_kind_of(const struct processor *processor);

#endif
