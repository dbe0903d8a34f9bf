/* What an image format knows beside the code: pointers, landing pads, and what bars copies. */
#ifndef UMBRA_REWRITER_COPY_SOURCE_H
#define UMBRA_REWRITER_COPY_SOURCE_H

#include "rewriter/flow/flow.h"
#include "rewriter/patch/patch_plan.h"

/* What the image format adds to what is known of the code; copy_source_free ends it. */
struct copy_source {
    struct flow_pointer *pointers; /* as in flow_source, in any order */
    size_t pointer_count, pointer_room;
    uint32_t *by_target;          /* set by copy_source_settle */
    struct flow_import *imports; /* as in flow_source, in any order */
    size_t import_count, import_room;
    uint64_t *pads; /* as in flow_source, in any order */
    size_t pad_count;
    uint64_t *filled_in; /* addresses within code that the loader changes, in any order */
    size_t filled_in_count, filled_in_room;
    /* Why the format bars a member from being copied, or FLOW_CERTAIN; null: it bars none. */
    enum flow_doubt (*doubt)(const void *context, const struct function *function);
    const void *context;
};

void copy_source_free(struct copy_source *source);

/* Sorts what is in it, for the analysis of control flow, which is given what this returns: as long
   as `source` is not changed or freed. Once for each source. */
struct flow_source copy_source_settle(struct copy_source *source, const struct patch_plan *patches);

#endif
