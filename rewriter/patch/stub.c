#include "rewriter/patch/stub.h"

#include <string.h>

#include "rewriter/code/decode.h"
#include "trace/image_manifest.h"

#define LONGEST_FRAME 64

static void move_condition(struct stub_segment *stubs, const struct instruction *at,
                           uint64_t target)
{
    uint8_t opcode[2] = {0x0f, (uint8_t)(0x80 | (at->zydis.opcode & 0x0f))};

    stub_put_relative(stubs, opcode, sizeof(opcode), target);
}

static void move_loop(struct stub_segment *stubs, const struct instruction *at,
                      const uint8_t *bytes, uint64_t target)
{
    buffer_append(&stubs->code, bytes, at->length - 1u);
    buffer_append(&stubs->code, "\x02\xeb\x05", 3);
    stub_put_jump(stubs, target);
}

/* The get_pc_thunk that an instruction calls; null if it does not. */
static const uint8_t *thunk_of(const struct stub_segment *stubs, const struct instruction *at)
{
    const uint8_t *bytes;
    size_t size;

    if (at->flow != FLOW_CALL || !stubs->image || !stubs->processor->is_pc_thunk)
        return NULL;
    bytes = code_at(stubs->image, at->target, &size);
    return bytes && stubs->processor->is_pc_thunk(bytes, size) ? bytes : NULL;
}

static bool move(struct stub_segment *stubs, const struct instruction *at, const uint8_t *bytes,
                 uint64_t target)
{
    const struct stub_kind *kind = stub_kind_of(stubs->processor);

    if (at->flow == FLOW_UNKNOWN || !kind->is_movable(at))
        return false;
    switch (at->flow) {
    case FLOW_JUMP:
        stub_put_jump(stubs, target);
        break;
    case FLOW_CONDITION:
        move_condition(stubs, at, target);
        break;
    case FLOW_LOOP:
        move_loop(stubs, at, bytes, target);
        break;
    case FLOW_CALL:
    case FLOW_INDIRECT_CALL:
        kind->put_call(stubs, at, bytes);
        break;
    default:
        stub_put_same(stubs, at, bytes);
        break;
    }
    return true;
}

bool stub_body_append(struct stub_segment *stubs, const struct function *function,
                      const uint8_t *original, bool *is_adjusted, struct stub_moves *moves)
{
    uint64_t body = stub_here(stubs), start = function->address + function->patch_offset;
    size_t end = (size_t)function->patch_offset + function->displaced;
    struct instruction at = {.flow = FLOW_NEXT};
    ZydisDecoder decoder;

    decoder_init(&decoder, stubs->processor);
    *is_adjusted = false;
    for (size_t offset = function->patch_offset; offset < end; offset += at.length) {
        const uint8_t *thunk;
        uint64_t target;
        bool is_jump;

        if (moves)
            moves->to[offset - function->patch_offset] = (uint8_t)(stub_here(stubs) - body);
        if (!instruction_decode(&decoder, function->address + offset, original + offset,
                                end - offset, &at))
            return false;
        is_jump = at.flow == FLOW_JUMP || at.flow == FLOW_CONDITION || at.flow == FLOW_LOOP;
        thunk = thunk_of(stubs, &at);
        if (thunk) {
            stub_kind_of(stubs->processor)->put_pc(stubs, &at, thunk);
            *is_adjusted = true;
            continue;
        }
        if (moves && (at.flow == FLOW_CALL || at.flow == FLOW_INDIRECT_CALL)) {
            moves->has_call = true;
            moves->call = (uint8_t)(offset - function->patch_offset);
        }
        target = at.target;
        if (is_jump && (target == start || target == function->address))
            target = body;
        if (!move(stubs, &at, original + offset, target))
            return false;
        if (is_jump || at.is_rip_based || at.flow == FLOW_CALL || at.flow == FLOW_INDIRECT_CALL)
            *is_adjusted = true;
    }
    if (moves)
        moves->to[function->displaced] = (uint8_t)(stub_here(stubs) - body);
    if (at.flow != FLOW_END && at.flow != FLOW_JUMP && at.flow != FLOW_INDIRECT_JUMP)
        stub_put_jump(stubs, function->address + end);
    return true;
}

static void put_frame(struct stub_segment *stubs, struct function *function, uint32_t index)
{
    uint8_t size = stubs->processor->stub_frame_size;

    function->stub =
        (uint32_t)buffer_append(&stubs->code, stub_kind_of(stubs->processor)->frame, size);
    function->body = function->stub + size;
    memcpy(stubs->code.bytes + function->body + STUB_INDEX, &index, sizeof(index));
}

void stub_append_import(struct stub_segment *stubs, struct function *import, uint32_t index)
{
    put_frame(stubs, import, import->is_timed ? index | STUB_TIMED : index);
    stub_kind_of(stubs->processor)->put_import(stubs, import->address);
}

bool stub_append(struct stub_segment *stubs, struct function *function, const uint8_t *original,
                 uint32_t index, struct stub_moves *moves)
{
    bool is_adjusted;

    put_frame(stubs, function,
              function->is_timed  ? index | STUB_TIMED
              : function->is_leaf ? index | STUB_LEAF
                                  : index);
    if (moves && moves->is_copied) {
        buffer_append(&stubs->code, "\x3e", STUB_COPY_JUMP);
        stub_put_jump(stubs, stub_here(stubs));
        return true;
    }
    return stub_body_append(stubs, function, original, &is_adjusted, moves);
}

/* Sets what a stub at `address` points to. */
static void frame_bind(const struct processor *processor, uint8_t *stub, uint64_t address,
                       const struct stub_targets *targets)
{
    const struct stub_kind *kind = stub_kind_of(processor);
    uint64_t body = address + processor->stub_frame_size;
    uint32_t displacement = (uint32_t)(targets->hook - (address + kind->hook_origin));
    uint32_t distance = (uint32_t)(targets->header - body);

    memcpy(stub + kind->hook_field, &displacement, sizeof(displacement));
    memcpy(stub + processor->stub_frame_size + STUB_HEADER_DISTANCE, &distance, sizeof(distance));
}

void stub_bind(struct stub_segment *stubs, const struct function *function,
               const struct stub_targets *targets)
{
    frame_bind(stubs->processor, stubs->code.bytes + function->stub,
               stubs->address + function->stub, targets);
}

bool stub_is_frame(const struct processor *processor, const uint8_t *stub, uint64_t address,
                   const struct stub_targets *targets, uint32_t index)
{
    const uint32_t indices[] = {index, index | STUB_LEAF, index | STUB_TIMED};
    uint8_t frame[LONGEST_FRAME], size = processor->stub_frame_size;

    memcpy(frame, stub_kind_of(processor)->frame, size);
    frame_bind(processor, frame, address, targets);
    for (size_t i = 0; i < sizeof(indices) / sizeof(*indices); i++) {
        memcpy(frame + size + STUB_INDEX, &indices[i], sizeof(indices[i]));
        if (memcmp(frame, stub, size) == 0)
            return true;
    }
    return false;
}
