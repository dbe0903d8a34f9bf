#include "rewriter/copy/copy_source.h"

#include <stdlib.h>

#include "support/memory.h"

void copy_source_free(struct copy_source *source)
{
    free(source->pointers);
    free(source->by_target);
    free(source->imports);
    free(source->pads);
    free(source->filled_in);
    *source = (struct copy_source){0};
}

static int by_value(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static int by_slot(const void *left, const void *right)
{
    const struct flow_pointer *a = left, *b = right;

    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

static int by_import_slot(const void *left, const void *right)
{
    const struct flow_import *a = left, *b = right;

    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

/* Indexes of pointers, ascending by target. */
static int by_target(const void *left, const void *right, void *context)
{
    const struct flow_pointer *pointers = context;
    const uint32_t *a = left, *b = right;

    if (pointers[*a].target != pointers[*b].target)
        return pointers[*a].target < pointers[*b].target ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

struct flow_source copy_source_settle(struct copy_source *source, const struct patch_plan *patches)
{
    source->by_target = memory_zeroed(source->pointer_count, sizeof(*source->by_target));
    for (size_t i = 0; i < source->pointer_count; i++)
        source->by_target[i] = (uint32_t)i;
    if (source->pointer_count) {
        qsort(source->pointers, source->pointer_count, sizeof(*source->pointers), by_slot);
        qsort_r(source->by_target, source->pointer_count, sizeof(*source->by_target), by_target,
                source->pointers);
    }
    if (source->import_count)
        qsort(source->imports, source->import_count, sizeof(*source->imports), by_import_slot);
    if (source->pad_count)
        qsort(source->pads, source->pad_count, sizeof(*source->pads), by_value);
    if (source->filled_in_count)
        qsort(source->filled_in, source->filled_in_count, sizeof(*source->filled_in), by_value);
    return (struct flow_source){
        .code = patches->code,
        .map = patches->map,
        .functions = patches->functions,
        .imports = source->imports,
        .import_count = source->import_count,
        .pointers = source->pointers,
        .pointer_count = source->pointer_count,
        .by_target = source->by_target,
        .pads = source->pads,
        .pad_count = source->pad_count,
    };
}
