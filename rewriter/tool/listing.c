#include "rewriter/tool/listing.h"

#include "image/manifest.h"
#include "rewriter/functions/list.h"
#include "rewriter/tool/analysis.h"
#include "rewriter/tool/image_formats.h"

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

        list_function(list, &(struct listed){address, entry->size, entry->reason,
                                             import  ? import
                                             : named ? named->name
                                                     : NULL,
                                             import != NULL});
    }
    list_end(list);
}

static void list_functions(const struct function_list *functions, struct list *list)
{
    list_begin(list);
    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];

        list_function(list,
                      &(struct listed){function->address, function->end - function->address,
                                       function->reason, function->name, function->is_import});
    }
    list_end(list);
}

static bool list_original(struct image *image, const struct rewrite_options *options,
                          struct list *list, struct failure *failure)
{
    struct patch_plan plan = {0};
    bool is_done =
        image->format->require_fit(image, failure) && image_analyse(image, options, &plan, failure);

    if (is_done && image->format->read_debug_names)
        image->format->read_debug_names(image, false);
    if (is_done)
        list_functions(image->functions, list);
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

bool list_file(const struct rewrite_options *options, struct failure *failure)
{
    struct input_file input;
    struct image image;
    bool is_done = false;

    if (!input_file_open(&input, options->input, failure))
        return false;
    if (image_open(&image, &input, failure)) {
        is_done = list_image(&image, options, failure);
        image_close(&image);
    }
    input_file_close(&input);
    return is_done;
}
