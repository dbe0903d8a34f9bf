#include "rewriter/copy/copy_plan_work.h"

void doubt_part(struct copy_plan *plan, size_t part, enum flow_doubt doubt)
{
    if (plan->doubts[part] == FLOW_CERTAIN)
        plan->doubts[part] = (uint8_t)doubt;
}

uint32_t family_of(struct copy_plan_work *work, uint32_t part)
{
    uint32_t *family = work->family;

    while (family[part] != part)
        part = family[part] = family[family[part]];
    return part;
}

void family_join(struct copy_plan_work *work, uint32_t part, uint32_t other)
{
    work->family[family_of(work, part)] = family_of(work, other);
}
