#include "rewriter/copy/copy_planning.h"

void doubt_part(struct copy_plan *plan, size_t part, enum flow_doubt doubt)
{
    if (plan->doubts[part] == FLOW_CERTAIN)
        plan->doubts[part] = (uint8_t)doubt;
}

uint32_t family_of(struct planning *planning, uint32_t part)
{
    uint32_t *family = planning->family;

    while (family[part] != part)
        part = family[part] = family[family[part]];
    return part;
}

void family_join(struct planning *planning, uint32_t part, uint32_t other)
{
    planning->family[family_of(planning, part)] = family_of(planning, other);
}
