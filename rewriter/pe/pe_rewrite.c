#include "rewriter/pe/pe_rewrite.h"

#include "rewriter/list.h"
#include "rewriter/patch_plan.h"
#include "rewriter/pe/pe_filter.h"
#include "rewriter/pe/pe_manifest.h"
#include "rewriter/pe/pe_room.h"
#include "rewriter/pe/pe_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

/* Everything known about an image's functions. */
struct analysis {
    struct pe_code pe;
    struct patch_plan plan;
};

static bool analyse(struct analysis *analysis, const struct pe_image *image,
                    const struct rewrite_options *options, struct failure *failure)
{
    pe_code_read(&analysis->pe, image,
                 &(struct pe_code_options){.instrument_imports = options->instrument_imports});
    analysis->plan = (struct patch_plan){
        .code = &analysis->pe.code,
        .functions = &analysis->pe.functions,
        .map = &analysis->pe.map,
        .base = image->base,
        .end = image->end,
    };
    if (analysis->pe.functions.count == 0)
        return fail(failure, image->path, "expected functions to hook, found none");
    if (analysis->pe.map.is_exhausted)
        return fail(failure, image->path,
                    "expected functions side by side, found so many that overlap, or that lead to "
                    "one another only, that finding them would take too long");
    pe_filter_apply(options->filter, &analysis->pe);
    patch_plan(&analysis->plan);
    return true;
}

static void analysis_free(struct analysis *analysis)
{
    patch_plan_free(&analysis->plan);
    pe_code_free(&analysis->pe);
}

static void count(const struct function_list *functions, struct rewrite_result *result)
{
    *result = (struct rewrite_result){.found = functions->count};
    for (size_t i = 0; i < functions->count; i++)
        result->hooked += patch_reason_is_hooked(functions->items[i].reason);
}

bool pe_check(const struct input_file *input, struct failure *failure)
{
    struct pe_image image;
    bool is_fit;

    if (!pe_image_read(&image, input->path, input->bytes, input->size, failure))
        return false;
    is_fit = pe_image_require_fit(&image, failure);
    pe_image_free(&image);
    return is_fit;
}

static bool write_image(struct pe_writer_source *source, struct output_file *output,
                        struct failure *failure)
{
    const char *path = source->image->path;
    char *absolute = realpath(path, NULL);
    bool is_written;

    if (!absolute)
        return fail(failure, path, "cannot find it any more: %s", strerror(errno));
    source->original_path = absolute;
    is_written = pe_write(source, output, failure);
    free(absolute);
    return is_written;
}

/* `source` has all but what the analysis adds. */
static bool instrument(struct pe_writer_source *source, const struct rewrite_options *options,
                       struct output_file *output, struct rewrite_result *result,
                       struct failure *failure)
{
    struct analysis analysis = {0};
    bool is_done = false;

    if (!analyse(&analysis, source->image, options, failure))
        goto err;
    count(&analysis.pe.functions, result);
    result->lost_signature = source->image->directory[PE_CERTIFICATES].size;
    if (result->hooked == 0 && (!options->filter || options->filter->count == 0)) {
        fail(failure, source->image->path, "expected functions to hook, found none that can be");
        goto err;
    }
    source->pe = &analysis.pe;
    source->plan = &analysis.plan;
    is_done = write_image(source, output, failure);

err:
    analysis_free(&analysis);
    return is_done;
}

bool pe_rewrite(struct input_file *input, const struct rewrite_options *options,
                const struct agent *agent, struct output_file *output,
                struct rewrite_result *result, struct judge_expectation *expected,
                struct failure *failure)
{
    struct pe_image image;
    struct pe_room room = {0};
    struct change_list changes = {0};
    struct pe_writer_source source = {
        .image = &image,
        .changes = &changes,
        .agent = agent->needed,
        .original_size = input->size,
        .original_hash = XXH3_64bits(input->bytes, input->size),
    };
    bool is_done;

    if (!pe_image_read(&image, input->path, input->bytes, input->size, failure))
        return false;
    is_done = pe_room_make(&room, &image, &changes, failure) &&
              instrument(&source, options, output, result, failure);
    *expected = (struct judge_expectation){
        .is_pe = true,
        .size = image.size,
        .sections = image.section_count + PE_NEW_SECTIONS,
        .needed = agent->needed,
    };
    pe_image_free(&image);
    pe_room_free(&room);
    free(changes.items);
    return is_done;
}

/* Names of functions, for a manifest, which holds none. */
static void list_manifest(const struct pe_image *image, const struct manifest *manifest)
{
    struct pe_code pe;

    pe_names_read(&pe, image);
    for (uint32_t i = 0; i < manifest->head.function_count; i++) {
        const struct manifest_function *entry = &manifest->functions[i];
        uint64_t address = image->base + entry->rva;
        const struct function *named = function_list_at(&pe.functions, address);
        const char *import = manifest_import_name(manifest, i);

        list_function(address, entry->size, entry->reason,
                      import  ? import
                      : named ? named->name
                              : NULL,
                      import);
    }
    pe_code_free(&pe);
}

static void list_analysis(const struct function_list *functions)
{
    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];

        list_function(function->address, function->end - function->address, function->reason,
                      function->name, function->is_import);
    }
}

bool pe_list(struct input_file *input, const struct rewrite_options *options,
             struct failure *failure)
{
    struct pe_image image;
    struct manifest manifest;
    struct analysis analysis = {0};
    bool is_done = true;

    if (!pe_image_read(&image, input->path, input->bytes, input->size, failure))
        return false;
    if (pe_manifest_read(&manifest, &image)) {
        list_header();
        list_manifest(&image, &manifest);
        manifest_free(&manifest);
    } else if (pe_image_require_fit(&image, failure) &&
               analyse(&analysis, &image, options, failure)) {
        list_header();
        list_analysis(&analysis.pe.functions);
    } else {
        is_done = false;
    }
    analysis_free(&analysis);
    pe_image_free(&image);
    return is_done;
}
