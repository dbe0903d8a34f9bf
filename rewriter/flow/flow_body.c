#include "rewriter/flow/flow_body.h"

#include <stdlib.h>

#include "rewriter/code/decode_plain.h"
#include "rewriter/flow/flow_flags.h"
#include "support/memory.h"

#define X86_NOP  0x90
#define X86_INT3 0xcc

#define LARGEST (64u << 20) /* bytes of a function that is looked at */

static void note(uint32_t **items, size_t *count, size_t *room, uint32_t item)
{
    *items = memory_grow(*items, *count, room, sizeof(item));
    (*items)[(*count)++] = item;
}

static bool may_be_padding(const uint8_t *bytes)
{
    return *bytes == X86_NOP || *bytes == X86_INT3 || *bytes == 0x66 || *bytes == 0x0f;
}

/* What goes on elsewhere, or need not go on: a call may not return. */
static bool is_closing(const struct instruction *at)
{
    return at->flow == FLOW_JUMP || at->flow == FLOW_INDIRECT_JUMP || at->flow == FLOW_END ||
           at->flow == FLOW_CALL || at->flow == FLOW_INDIRECT_CALL;
}

static enum flow_doubt note_flow(struct flow_body *body, const struct instruction *at)
{
    uint64_t next = at->address + at->length - body->address;
    uint64_t target = at->target - body->address;

    switch (at->flow) {
    case FLOW_UNKNOWN:
        return FLOW_UNMOVABLE;
    case FLOW_CALL:
        if (target > 0 && target < body->size) /* to read rip, most often */
            return FLOW_UNMOVABLE;
        /* fall through */
    case FLOW_INDIRECT_CALL:
        note(&body->calls, &body->call_count, &body->call_room, (uint32_t)next);
        break;
    case FLOW_JUMP:
    case FLOW_CONDITION:
    case FLOW_LOOP:
        if (target < body->size) {
            note(&body->targets, &body->target_count, &body->target_room, (uint32_t)target);
            body->joins[target / 64] |= 1ull << target % 64;
        }
        break;
    case FLOW_INDIRECT_JUMP:
        body->has_jump |= !at->is_rip_based;
        break;
    default:
        if (at->is_lea && at->is_rip_based && at->operand - body->address - 1 < body->size - 1)
            note(&body->taken, &body->taken_count, &body->taken_room,
                 (uint32_t)(at->operand - body->address));
        break;
    }
    return FLOW_CERTAIN;
}

static enum flow_doubt read_instructions(struct flow_body *body)
{
    struct instruction at = {0};
    enum flow_doubt doubt;
    ZydisDecoder decoder;
    bool is_open = true;

    decoder_init(&decoder, &processor_x86_64);
    body->padding = body->size;
    for (uint32_t offset = 0; offset < body->size; offset += at.length) {
        const uint8_t *here = body->bytes + offset;
        uint64_t address = body->address + offset;
        size_t room = body->size - offset, plain = 0;

        body->starts[offset / 64] |= 1ull << offset % 64;
        if (room >= PLAIN_ROOM && (is_open ? *here != X86_INT3 : !may_be_padding(here)))
            plain = plain_length(here, 0);
        if (plain) {
            at.length = (uint8_t)plain;
            is_open = true;
            body->padding = body->size;
            continue;
        }
        if (room >= PLAIN_ROOM && plain_decode(address, here, &at))
            at.zydis.mnemonic = ZYDIS_MNEMONIC_INVALID;
        else if (!instruction_decode(&decoder, address, here, room, &at))
            return FLOW_UNDECODABLE;
        if (!is_open && instruction_is_padding(&at))
            continue;
        is_open = !is_closing(&at) && at.zydis.mnemonic != ZYDIS_MNEMONIC_INT3;
        body->padding = is_open ? body->size : offset + at.length;
        doubt = note_flow(body, &at);
        if (doubt)
            return doubt;
    }
    return is_open ? FLOW_OPEN_END : FLOW_CERTAIN;
}

static enum flow_doubt check_targets(const struct flow_body *body)
{
    for (size_t i = 0; i < body->target_count; i++) {
        if (!flow_body_starts(body, body->address + body->targets[i]))
            return FLOW_MISALIGNED;
        if (body->targets[i] >= body->padding)
            return FLOW_OPEN_END;
    }
    return FLOW_CERTAIN;
}

/* Whether a branch leads behind a call, or behind what fills up the space there. */
static bool is_joined(const struct flow_body *body, uint32_t offset)
{
    struct instruction at;
    ZydisDecoder decoder;

    decoder_init(&decoder, &processor_x86_64);
    for (; offset < body->size; offset += at.length) {
        if (body->joins[offset / 64] >> offset % 64 & 1)
            return true;
        if (!instruction_decode(&decoder, body->address + offset, body->bytes + offset,
                                body->size - offset, &at) ||
            !instruction_is_padding(&at))
            return false;
    }
    return false;
}

/*
 * Flags that are alive behind a call may have been set in front of it, where a copy changes some.
 * Where a branch leads there they are that branch's: the call does not return.
 */
static enum flow_doubt check_flags(const struct flow_body *body, const struct flow_source *source)
{
    for (size_t i = 0; i < body->call_count; i++)
        if (flow_flags_fate(source, body->address + body->calls[i]) == FLAGS_READ &&
            !is_joined(body, body->calls[i]))
            return FLOW_FLAGS;
    return FLOW_CERTAIN;
}

enum flow_doubt flow_body_read(struct flow_body *body, const struct flow_source *source,
                               const struct function *function)
{
    size_t room;
    enum flow_doubt doubt;

    *body = (struct flow_body){.code = source->code, .address = function->address};
    body->bytes = code_at(source->code, function->address, &room);
    if (!body->bytes || function->end <= function->address ||
        function->end - function->address > room || function->end - function->address > LARGEST)
        return FLOW_UNDECODABLE;
    body->size = (uint32_t)(function->end - function->address);
    body->starts = memory_zeroed(body->size / 64 + 1, sizeof(*body->starts));
    body->joins = memory_zeroed(body->size / 64 + 1, sizeof(*body->joins));
    doubt = read_instructions(body);
    if (!doubt)
        doubt = check_targets(body);
    return doubt ? doubt : check_flags(body, source);
}

void flow_body_free(struct flow_body *body)
{
    free(body->starts);
    free(body->joins);
    free(body->targets);
    free(body->calls);
    free(body->taken);
    *body = (struct flow_body){0};
}
