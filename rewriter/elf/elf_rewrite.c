#include "rewriter/elf/elf_rewrite.h"

#include "rewriter/elf/elf_filter.h"
#include "rewriter/elf/elf_layout.h"
#include "rewriter/elf/elf_manifest.h"
#include "rewriter/elf/elf_redirect.h"
#include "rewriter/elf/elf_writer.h"
#include "rewriter/patch_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

/* Everything known about an image's functions. */
struct analysis {
    struct elf_code elf;
    struct patch_plan plan;
};

static bool analyse(struct analysis *analysis, const struct elf_image *image,
                    const struct rewrite_options *options, struct failure *failure)
{
    elf_code_read(&analysis->elf, image,
                  &(struct elf_code_options){.instrument_imports = options->instrument_imports});
    analysis->plan = (struct patch_plan){
        .code = &analysis->elf.code,
        .functions = &analysis->elf.functions,
        .map = &analysis->elf.map,
        .base = image->base,
        .end = image->end,
    };
    if (analysis->elf.functions.count == 0)
        return fail(failure, image->path, "expected functions to hook, found none");
    if (analysis->elf.map.is_exhausted)
        return fail(failure, image->path,
                    "expected functions side by side, found so many that overlap, or that lead to "
                    "one another only, that finding them would take too long");
    elf_filter_apply(options->filter, &analysis->elf, image);
    patch_plan(&analysis->plan);
    elf_redirect_plan(&analysis->plan, &analysis->elf, image);
    return true;
}

static void analysis_free(struct analysis *analysis)
{
    patch_plan_free(&analysis->plan);
    elf_code_free(&analysis->elf);
}

static void count(const struct function_list *functions, struct rewrite_result *result)
{
    *result = (struct rewrite_result){.found = functions->count};
    for (size_t i = 0; i < functions->count; i++)
        result->hooked += patch_reason_is_hooked(functions->items[i].reason);
}

static bool write_image(struct elf_image *image, struct analysis *analysis,
                        const struct agent *agent, struct elf_embedding *embedding, uint64_t hash,
                        struct output_file *output, struct failure *failure)
{
    struct elf_writer_source source = {.image = image,
                                       .elf = &analysis->elf,
                                       .plan = &analysis->plan,
                                       .agent = embedding ? agent->path : agent->needed,
                                       .embedding = embedding,
                                       .original_hash = hash};
    char *absolute = realpath(image->path, NULL);
    bool is_written;

    if (!absolute)
        return fail(failure, image->path, "cannot find it any more: %s", strerror(errno));
    source.original_path = absolute;
    is_written = elf_write(&source, output, failure);
    free(absolute);
    return is_written;
}

bool elf_check(const struct input_file *input, struct failure *failure)
{
    struct elf_image image;
    bool is_fit;

    if (!elf_image_read(&image, input->path, input->bytes, input->size, failure))
        return false;
    is_fit = elf_image_require_fit(&image, failure);
    elf_image_free(&image);
    return is_fit;
}

bool elf_embeds_agent(const struct input_file *input)
{
    struct elf_image image;
    struct failure ignored;
    bool is_static;

    if (!elf_image_read(&image, input->path, input->bytes, input->size, &ignored))
        return false;
    is_static = elf_image_is_static(&image);
    elf_image_free(&image);
    return is_static;
}

/* What LIEF should find. */
static struct judge_expectation expect(const struct elf_image *image, const struct agent *agent,
                                       const struct elf_embedding *embedding)
{
    struct judge_expectation expected = {.size = image->size,
                                         .segments = image->segment_count + ELF_NEW_SEGMENTS,
                                         .needed = embedding ? NULL : agent->needed};

    if (embedding)
        expected.segments += elf_embedding_segments(embedding, image);
    if (image->section_count && image->section_names)
        expected.sections =
            image->section_count + ELF_NEW_SECTIONS + (embedding ? ELF_AGENT_SECTIONS : 0);
    return expected;
}

bool elf_rewrite(struct input_file *input, const struct rewrite_options *options,
                 const struct agent *agent, struct output_file *output,
                 struct rewrite_result *result, struct judge_expectation *expected,
                 struct failure *failure)
{
    struct elf_image image;
    struct analysis analysis = {0};
    struct elf_embedding opened, *embedding = NULL;
    uint64_t hash = XXH3_64bits(input->bytes, input->size);
    bool is_done = false;

    if (!elf_image_read(&image, input->path, input->bytes, input->size, failure))
        return false;
    if (!analyse(&analysis, &image, options, failure))
        goto err;
    if (elf_image_is_static(&image)) {
        if (!elf_embedding_open(&opened, agent->path, failure))
            goto err;
        embedding = &opened;
    }
    count(&analysis.elf.functions, result);
    if (result->hooked == 0 && (!options->filter || options->filter->count == 0)) {
        fail(failure, image.path, "expected functions to hook, found none that can be");
        goto err;
    }
    is_done = write_image(&image, &analysis, agent, embedding, hash, output, failure);
    *expected = expect(&image, agent, embedding);

err:
    if (embedding)
        elf_embedding_close(embedding);
    analysis_free(&analysis);
    elf_image_free(&image);
    return is_done;
}

/* Names of functions, for a manifest, which holds none. */
static void list_manifest(const struct elf_image *image, const struct manifest *manifest)
{
    struct elf_code elf;

    elf_names_read(&elf, image);
    for (uint32_t i = 0; i < manifest->head.function_count; i++) {
        const struct manifest_function *entry = &manifest->functions[i];
        uint64_t address = image->base + entry->rva;
        const struct function *named = function_list_at(&elf.functions, address);
        const char *import = manifest_import_name(manifest, i);

        list_function(address, entry->size, entry->reason,
                      import  ? import
                      : named ? named->name
                              : NULL,
                      import);
    }
    elf_code_free(&elf);
}

static void list_analysis(const struct function_list *functions)
{
    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];

        list_function(function->address, function->end - function->address, function->reason,
                      function->name, function->is_import);
    }
}

bool elf_list(struct input_file *input, const struct rewrite_options *options,
              struct failure *failure)
{
    struct elf_image image;
    struct manifest manifest;
    struct analysis analysis = {0};
    bool is_done = true;

    if (!elf_image_read(&image, input->path, input->bytes, input->size, failure))
        return false;
    if (elf_manifest_read(&manifest, &image)) {
        list_header();
        list_manifest(&image, &manifest);
        manifest_free(&manifest);
    } else if (elf_image_require_fit(&image, failure) &&
               analyse(&analysis, &image, options, failure)) {
        list_header();
        list_analysis(&analysis.elf.functions);
    } else {
        is_done = false;
    }
    analysis_free(&analysis);
    elf_image_free(&image);
    return is_done;
}
