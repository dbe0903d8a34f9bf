#include "rewriter/copy/copy_survey.h"

#include <stdlib.h>

#include "rewriter/code/decode_plain.h"
#include "rewriter/copy/copy_jumps.h"
#include "rewriter/flow/flow_flags.h"
#include "support/memory.h"

#define TABLE_ENTRIES     (1u << 26) /* in all, that are looked at */
#define X86_OPERAND_WIDTH 0x66

void copy_survey_begin(struct copy_survey *survey, const struct copy_plan *plan,
                       const struct patch_plan *patches, const struct flow_source *source)
{
    *survey = (struct copy_survey){
        .plan = plan, .patches = patches, .source = source, .entries_left = TABLE_ENTRIES};
    address_set_init(&survey->starts, patches->code);
    decoder_init(&survey->decoder, &processor_x86_64);
}

void copy_survey_end(struct copy_survey *survey)
{
    free(survey->starts.words);
    free(survey->links);
}

/* Whether an instruction does elsewhere what it does where it is, once its distances are adjusted.
 */
static bool is_movable(const struct instruction *at)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;

    if (at->flow == FLOW_UNKNOWN || (at->is_rip_based && zydis->address_width != 64))
        return false;
    for (uint8_t i = 0; i < zydis->raw.prefix_count; i++)
        if (copy_is_direct_jump(at) && zydis->raw.prefixes[i].value == X86_OPERAND_WIDTH)
            return false; /* processors do not agree on what that means */
    return true;
}

static void add_link(struct copy_survey *survey, uint32_t member, uint64_t target)
{
    const struct function *from = &survey->patches->functions->items[member];

    if (target >= from->address && target < from->end)
        return;
    survey->links =
        memory_grow(survey->links, survey->link_count, &survey->link_room, sizeof(*survey->links));
    survey->links[survey->link_count++] = (struct copy_link){member, target};
}

/* What stands in front of a call or a jump out changes flags: assembly may hand some on. */
static bool is_given_flags(const struct copy_survey *survey, uint64_t target)
{
    return flow_flags_fate(survey->source, target) == FLAGS_READ;
}

static enum flow_doubt survey_exit(const struct copy_survey *survey, uint64_t target,
                                   struct return_slot slot)
{
    if (!copy_slot_serves_jump(slot))
        return FLOW_STACK;
    return is_given_flags(survey, target) ? FLOW_FLAGS : FLOW_CERTAIN;
}

static enum flow_doubt survey_jump(struct copy_survey *survey, uint32_t member, uint64_t target,
                                   struct return_slot slot)
{
    switch (copy_target_of_jump(survey->plan, survey->patches->functions, member, target,
                                copy_slot_serves_jump(slot))) {
    case COPY_TARGET_INSIDE:
        add_link(survey, member, target);
        return FLOW_CERTAIN;
    case COPY_TARGET_BARRED:
        return FLOW_FAMILY;
    default:
        return survey_exit(survey, target, slot);
    }
}

static enum flow_doubt survey_branch(struct copy_survey *survey, uint32_t member,
                                     const struct instruction *at, struct copy_slots *slots)
{
    struct return_slot slot = copy_slot_at(slots, at->address);

    switch (at->flow) {
    case FLOW_JUMP:
    case FLOW_CONDITION:
    case FLOW_LOOP:
        return survey_jump(survey, member, at->target, slot);
    case FLOW_CALL:
        if (copy_target_of_call(survey->patches->functions, member, at->target) ==
            COPY_TARGET_INSIDE)
            return FLOW_UNMOVABLE;
        if (is_given_flags(survey, at->target))
            return FLOW_FLAGS;
        /* fall through */
    case FLOW_INDIRECT_CALL:
        return copy_slot_is_near(slot) ? FLOW_CERTAIN : FLOW_STACK;
    default:
        return FLOW_CERTAIN;
    }
}

static enum flow_doubt survey_table(struct copy_survey *survey, const struct flow_table *table,
                                    uint32_t member)
{
    if (table->count > survey->entries_left)
        return FLOW_UNKNOWN_JUMP;
    survey->entries_left -= table->count;
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t target = flow_table_target(survey->source, table, i);

        if (!target)
            continue;
        switch (
            copy_target_of_jump(survey->plan, survey->patches->functions, member, target, false)) {
        case COPY_TARGET_INSIDE:
            add_link(survey, member, target);
            break;
        case COPY_TARGET_BARRED:
            if (table->is_bounded)
                return FLOW_FAMILY;
            break;
        default:
            break;
        }
    }
    return FLOW_CERTAIN;
}

static enum flow_doubt survey_instruction(struct copy_survey *survey, uint32_t member,
                                          struct instruction *at, const uint8_t *bytes, size_t size,
                                          struct copy_slots *slots)
{
    uint64_t address = at->address;

    address_set_add(&survey->starts, address);
    at->length = size >= PLAIN_ROOM ? (uint8_t)plain_length(bytes, PLAIN_MIND_RIP) : 0;
    if (at->length)
        return FLOW_CERTAIN;
    if (size >= PLAIN_ROOM && plain_decode(address, bytes, at)) /* all of which can be moved */
        return survey_branch(survey, member, at, slots);
    if (!instruction_decode(&survey->decoder, address, bytes, size, at))
        return FLOW_UNDECODABLE;
    if (!is_movable(at))
        return FLOW_UNMOVABLE;
    return survey_branch(survey, member, at, slots);
}

enum flow_doubt copy_survey_member(struct copy_survey *survey, const struct flow *flow,
                                   uint32_t member)
{
    const struct function *function = &survey->patches->functions->items[member];
    struct copy_slots slots = copy_slots_begin(survey->patches->code, function);
    struct instruction at = {.address = function->address};
    enum flow_doubt doubt = FLOW_CERTAIN;
    size_t size;
    const uint8_t *bytes = code_at(survey->patches->code, function->address, &size);

    if (!bytes || function->end <= function->address || function->end - function->address > size)
        return FLOW_UNDECODABLE;
    while (!doubt && at.address < function->end) {
        size_t offset = at.address - function->address;

        doubt = survey_instruction(survey, member, &at, bytes + offset, function->end - at.address,
                                   &slots);
        at.address += at.length;
    }
    for (size_t i = 0; !doubt && i < flow->table_count; i++)
        doubt = survey_table(survey, &flow->tables[i], member);
    return doubt;
}
