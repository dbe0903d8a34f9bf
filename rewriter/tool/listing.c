#include "rewriter/tool/listing.h"

#include "image/manifest.h"
#include "rewriter/functions/list.h"
#include "rewriter/tool/analysis.h"
#include "rewriter/tool/image_formats.h"
#include "rewriter/tool/refusal.h"

/* A manifest holds no names but those of imports: they are the image's and its debug file's. */
static void list_manifest(struct image *image, const struct manifest *manifest, struct list *list)
{
    list_begin(list);
    image->format->find_names(image);
    if (image->format->read_debug_names)
        image->format->read_debug_names(image, true);
    for (uint32_t i = 0; i < manifest->function_count; i++) {
        const struct manifest_function *entry = &manifest->functions[i];
        uint64_t address = image->base + entry->rva;
        const struct function *named = function_list_at(image->functions, address);
        const char *import = manifest_import_name(manifest, i);

        list_function(list, &(struct listed){
                                .address = address,
                                .size = entry->size,
                                .reason = entry->reason,
                                .name = import  ? import
                                        : named ? named->name
                                                : NULL,
                                .is_import = import != NULL,
                                .is_copied = entry->state == FUNCTION_HOOKED &&
                                             manifest_copy_of(manifest, i) != NULL,
                            });
    }
    list_end(list);
}

/* Why the body of a hooked function is not copied; null if it is, or has none. */
static const char *doubt_of(const struct copy_plan *copies, size_t place)
{
    if (place >= copies->count || copies->doubts[place] == COPY_NO_MEMBER ||
        copies->doubts[place] == FLOW_CERTAIN)
        return NULL;
    return flow_doubt_word(copies->doubts[place]);
}

static void list_functions(const struct function_list *functions, const struct copy_plan *copies,
                           struct list *list)
{
    list->has_doubts = copies->count != 0;
    list_begin(list);
    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];
        bool is_hooked = patch_reason_is_hooked(function->reason);

        list_function(list, &(struct listed){
                                .address = function->address,
                                .size = function->end - function->address,
                                .reason = function->reason,
                                .name = function->name,
                                .is_import = function->is_import,
                                .is_copied = is_hooked && copy_plan_has(copies, i),
                                .doubt = is_hooked ? doubt_of(copies, i) : NULL,
                            });
    }
    list_end(list);
}

static bool list_original(struct image *image, const struct rewrite_options *options,
                          struct list *list, struct failure *failure)
{
    struct patch_plan plan = {0};
    struct copy_plan copies = {0};
    bool is_done = image->format->require_fit(image, failure) &&
                   image_analyse(image, options, &plan, &copies, failure);

    if (is_done && image->format->read_debug_names)
        image->format->read_debug_names(image, false);
    if (is_done)
        list_functions(image->functions, &copies, list);
    copy_plan_free(&copies);
    patch_plan_free(&plan);
    return is_done;
}

bool list_image(struct image *image, const struct rewrite_options *options, struct failure *failure)
{
    struct bounded_file file = bounded_file_of(image->input->bytes, image->input->size);
    struct list list = {.is_summary = options->as_summary, .is_json = options->as_json};
    struct manifest manifest;

    if (manifest_load(&manifest, &file) != MANIFEST_WHOLE)
        return list_original(image, options, &list, failure);
    list_manifest(image, &manifest, &list);
    manifest_free(&manifest);
    return true;
}

bool list_file(const struct rewrite_options *options, enum instrument_reason *reason,
               struct failure *failure)
{
    struct input_file input;
    struct image image;
    bool is_done = false;

    if (!input_file_open(&input, options->input, failure)) {
        *reason = refusal_unread(&input);
        return false;
    }
    if (image_open(&image, &input, failure)) {
        is_done = list_image(&image, options, failure);
        image_close(&image);
    }
    if (!is_done)
        *reason = refusal_unfit(&input);
    input_file_close(&input);
    return is_done;
}
