#include "rewriter/copy/copy_plan.h"

#include <stdlib.h>

#include "support/sorted.h"

bool copy_plan_has(const struct copy_plan *plan, size_t function)
{
    return function < plan->count && plan->doubts[function] == FLOW_CERTAIN;
}

bool copy_plan_is_table_jump(const struct copy_plan *plan, uint64_t jump)
{
    size_t place = partition_point(i, plan->table_count, plan->tables[i].table.jump < jump);

    return place < plan->table_count && plan->tables[place].table.jump == jump;
}

void copy_plan_add_entries(const struct copy_plan *plan, const struct flow_source *source,
                           struct address_set *set)
{
    for (size_t i = 0; i < plan->word_count; i++)
        address_set_add(set, plan->words[i].target);
    for (size_t i = 0; i < plan->trampoline_count; i++)
        address_set_add(set, plan->trampolines[i].address);
    for (size_t i = 0; i < source->pad_count; i++)
        address_set_add(set, source->pads[i]);
}

uint32_t copy_plan_family(const struct copy_plan *plan, uint32_t member)
{
    while (plan->families[member] != member)
        member = plan->families[member];
    return member;
}

uint32_t frame_key_of(const struct copy_plan *plan, uint32_t member)
{
    unsigned bits = 1;

    while (plan->count >> bits)
        bits++;
    return (bits < 32 ? plan->salt << bits : 0) | copy_plan_family(plan, member);
}

void copy_plan_free(struct copy_plan *plan)
{
    free(plan->doubts);
    free(plan->tables);
    free(plan->words);
    free(plan->trampolines);
    free(plan->occupied.words);
    free(plan->leaders.words);
    free(plan->entered.words);
    free(plan->families);
    free(plan->imports);
    flow_registers_free(&plan->registers);
    *plan = (struct copy_plan){0};
}
