/* What the steps that make a plan (copy_plan_make.h) share. */
#ifndef UMBRA_REWRITER_COPY_PLAN_WORK_H
#define UMBRA_REWRITER_COPY_PLAN_WORK_H

#include "rewriter/copy/copy_survey.h"

struct copy_plan_work {
    struct copy_plan *plan;
    const struct patch_plan *patches;
    const struct copy_source *format;
    struct flow_source source;
    struct copy_survey survey;
    uint32_t *family; /* of each member: another of it, or itself */
};

/* The first doubt about a member stays. */
void doubt_member(struct copy_plan *plan, size_t member, enum flow_doubt doubt);

/* One member of a family stands for all; joining makes one family of two. */
uint32_t family_of(struct copy_plan_work *work, uint32_t member);
void family_join(struct copy_plan_work *work, uint32_t member, uint32_t other);

#endif
