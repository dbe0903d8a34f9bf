#include "rewriter/patch/patch_plan.h"

#include <stdlib.h>

bool patch_plan_is_own(const struct patch_plan *plan, const struct function *function,
                       uint64_t address)
{
    const struct function *from = function_list_owner(plan->functions, address);
    size_t index = (size_t)(function - plan->functions->items);

    if (!from || address >= from->end)
        return false;
    return from == function || (from->reason == PATCH_FRAGMENT && from->owner == index + 1);
}

void patch_plan_free(struct patch_plan *plan)
{
    free(plan->retargets);
    free(plan->redirects);
    free(plan->holes);
    plan->retargets = NULL;
    plan->redirects = NULL;
    plan->holes = NULL;
}
