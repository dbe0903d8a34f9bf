#include "rewriter/tool/analysis.h"

#include "rewriter/patch/patch_decide.h"
#include "rewriter/tool/exclude.h"

bool image_analyse(struct image *image, const struct rewrite_options *options,
                   struct patch_plan *plan, struct failure *failure)
{
    const struct image_format *format = image->format;
    const char *path = image->input->path;

    format->find_functions(image, options->instrument_imports);
    *plan = (struct patch_plan){
        .code = image->code,
        .functions = image->functions,
        .map = image->map,
        .base = image->base,
        .end = image->end,
    };
    if (image->functions->count == 0)
        return fail(failure, path, "expected functions to hook, found none");
    if (image->map->is_exhausted)
        return fail(failure, path,
                    "expected functions side by side, found so many that overlap, or that lead to "
                    "one another only, that finding them would take too long");
    exclude_functions(image, options->filter);
    if (options->only)
        exclude_others(image->functions, options->only);
    patch_decide(plan);
    if (format->plan_pointers)
        format->plan_pointers(image, plan);
    return true;
}
