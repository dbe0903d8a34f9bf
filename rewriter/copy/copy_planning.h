/* What planning the copies of an image works with. */
#ifndef UMBRA_REWRITER_COPY_PLANNING_H
#define UMBRA_REWRITER_COPY_PLANNING_H

#include "rewriter/copy/copy_survey.h"

struct planning {
    struct copy_plan *plan;
    const struct patch_plan *patches;
    const struct copy_source *format;
    struct flow_source source;
    struct copy_survey survey;
    uint32_t *family; /* of each part: another of it, or itself */
};

/* The first doubt about a part stays. */
void doubt_part(struct copy_plan *plan, size_t part, enum flow_doubt doubt);

/* One part of a family stands for all; joining makes one family of two. */
uint32_t family_of(struct planning *planning, uint32_t part);
void family_join(struct planning *planning, uint32_t part, uint32_t other);

#endif
