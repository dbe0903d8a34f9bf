/* What a member's instructions say about whether it can be copied. */
#ifndef UMBRA_REWRITER_COPY_SURVEY_H
#define UMBRA_REWRITER_COPY_SURVEY_H

#include "rewriter/code/decode.h"
#include "rewriter/copy/copy_target.h"

/* A place in another member that one leads to: both are of one family. */
struct copy_link {
    uint32_t member;
    uint64_t target;
};

struct copy_survey {
    const struct copy_plan *plan; /* `doubts`: which are members */
    const struct patch_plan *patches;
    const struct flow_source *source;
    struct address_set starts; /* of all instructions seen */
    struct copy_link *links;
    size_t link_count, link_room;
    uint64_t entries_left; /* of tables, that may be looked at */
    ZydisDecoder decoder;
};

void copy_survey_begin(struct copy_survey *survey, const struct copy_plan *plan,
                       const struct patch_plan *patches, const struct flow_source *source);
void copy_survey_end(struct copy_survey *survey);

/* Looks at a member that has no doubt yet, and at its tables. */
enum flow_doubt copy_survey_member(struct copy_survey *survey, const struct flow *flow,
                                 uint32_t member);

#endif
