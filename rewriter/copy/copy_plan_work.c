#include "rewriter/copy/copy_plan_work.h"

void doubt_member(struct copy_plan *plan, size_t member, enum flow_doubt doubt)
{
    if (plan->doubts[member] == FLOW_CERTAIN)
        plan->doubts[member] = (uint8_t)doubt;
}

uint32_t family_of(struct copy_plan_work *work, uint32_t member)
{
    uint32_t *family = work->family;

    while (family[member] != member)
        member = family[member] = family[family[member]];
    return member;
}

void family_join(struct copy_plan_work *work, uint32_t member, uint32_t other)
{
    work->family[family_of(work, member)] = family_of(work, other);
}
