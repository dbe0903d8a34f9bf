#include "rewriter/tool/analysis.h"

#include "rewriter/copy/copy_plan_make.h"
#include "rewriter/patch/patch_decide.h"
#include "rewriter/tool/exclude.h"

/* Blocks are marked in copies. */
static bool can_copy(const struct image *image, const struct rewrite_options *options,
                     struct failure *failure)
{
    const struct image_format *format = image->format;

    if (options->how == REWRITE_PROLOGUE)
        return fail(
            failure, image->input->path,
            "--count: blocks and instructions are counted in copies; leave --how=prologue out");
    if (!format->copy_source || (format->is_agent_inside && format->is_agent_inside(image)))
        return fail(
            failure, image->input->path,
            "--count: expected an ELF file for x86-64 that the dynamic linker loads, as blocks "
            "and instructions are counted in copies of functions");
    if (options->counts_instructions && !(format->has_cells && format->has_cells(image)))
        return fail(failure, image->input->path,
                    "--count=instructions: expected a file for glibc, whose threads have room for "
                    "counts, found one for musl");
    return true;
}

/* What no format but ELF of x86-64 has yet is refused if it was asked for by name. */
static bool plan_copies(const struct image *image, const struct rewrite_options *options,
                        const struct patch_plan *plan, struct copy_plan *copies,
                        struct failure *failure)
{
    const struct image_format *format = image->format;
    struct copy_source source = {0};

    if ((options->marks_blocks || options->counts_blocks || options->counts_instructions) &&
        !can_copy(image, options, failure))
        return false;
    if (options->how == REWRITE_PROLOGUE || options->away ||
        (options->how == REWRITE_AUTO && !format->copy_source))
        return true;
    /* The agent inside a static program has no thread-local words that its copies could go by. */
    if (format->is_agent_inside && format->is_agent_inside(image))
        return true;
    if (!format->copy_source)
        return fail(failure, image->input->path,
                    "--how=copy: bodies are copied in ELF files for x86-64 only; leave it out");
    format->copy_source(image, &source);
    copies->is_poisoned = options->poison;
    copies->marks_blocks = options->marks_blocks;
    copies->counts_blocks = options->counts_blocks;
    copies->has_lanes = options->counts_blocks && format->has_cells && format->has_cells(image);
    copies->counts_no_calls = options->counts_no_calls;
    copies->counts_instructions = options->counts_instructions;
    copy_plan_make(copies, plan, &source);
    copy_source_free(&source);
    return true;
}

bool image_analyse(struct image *image, const struct rewrite_options *options,
                   struct patch_plan *plan, struct copy_plan *copies, struct failure *failure)
{
    const struct image_format *format = image->format;
    const char *path = image->input->path;

    if (options->instrument_imports && !format->finds_imports)
        return fail(
            failure, path,
            "--instrument-imports: calls of imports are found in files for x86-64 only; leave it out");
    format->find_functions(image, options->instrument_imports);
    *plan = (struct patch_plan){
        .code = image->code,
        .functions = image->functions,
        .map = image->map,
        .base = image->base,
        .end = image->end,
    };
    *copies = (struct copy_plan){0};
    if (image->functions->count == 0)
        return fail(failure, path, "expected functions to hook, found none");
    if (image->map->is_exhausted)
        return fail(failure, path,
                    "expected functions side by side, found so many that overlap, or that lead to "
                    "one another only, that finding them would take too long");
    exclude_functions(image, options->filter);
    if (options->is_unwinder)
        exclude_all_but_finder(image->functions);
    if (format->times_chosen)
        choose_timed(image, options->times);
    if (options->only)
        exclude_others(image->functions, options->only);
    if (options->counts_instructions) /* each context is to have links, which have their number */
        for (size_t i = 0; i < image->functions->count; i++)
            image->functions->items[i].is_leaf = false;
    patch_decide(plan);
    if (format->plan_pointers && !options->away) /* a process has made pointers of them already */
        format->plan_pointers(image, plan);
    return plan_copies(image, options, plan, copies, failure);
}
