/* What a later recording is compared with: grinder/profile/baseline.h draws it. */
#include "grinder/profile/baseline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/formats/baseline_contexts.h"
#include "grinder/formats/format.h"
#include "grinder/profile/match.h"
#include "support/memory.h"
#include "support/utf8.h"

struct listing {
    FILE *stream;
    const struct images *images;
    bool counts_instructions;
    struct costs *sums;  /* by function number: calls and instructions in all parts */
    bool *is_recorded;   /* by function number */
    bool *has_nameless;  /* by image: functions that were recorded and have no name */
    bool *has_functions; /* by image: that were recorded */
    struct baseline_rows rows;
    uint32_t *row_of; /* by function number: its row + 1 */
};

static void add_part(struct listing *listing, const struct part *part)
{
    for (size_t i = 0; i < part->functions.keys.count; i++) {
        uint32_t function = (uint32_t)part->functions.keys.pairs[i].a;
        uint32_t image = listing->images->functions[function].image;
        listing->sums[function].calls += part->functions.costs[i].calls;
        listing->sums[function].self_instructions += part->functions.costs[i].self_instructions;
        listing->is_recorded[function] = true;
        listing->has_functions[image] = true;
        if (match_is_nameless(listing->images, function))
            listing->has_nameless[image] = true;
    }
}

static int compare_images(const void *left, const void *right, void *user)
{
    const struct image *images = user;
    const struct image *a = &images[*(const uint32_t *)left],
                       *b = &images[*(const uint32_t *)right];
    int order = strcmp(image_name(a), image_name(b));

    return order ? order : strcmp(a->path, b->path);
}

/* ordinal: among modules of that name, from 1 on. */
static void write_module(const struct listing *listing, const char *module, unsigned ordinal)
{
    utf8_write_plain(listing->stream, module);
    if (ordinal > 1)
        fprintf(listing->stream, " (%u)", ordinal);
}

static void write_row(struct listing *listing, const char *module, unsigned ordinal, uint64_t code,
                      uint32_t function)
{
    const struct costs *sum = &listing->sums[function];
    bool has_name = function && !(code && match_is_nameless(listing->images, function));
    const char *name = has_name ? listing->images->functions[function].name : NULL;

    baseline_rows_add(&listing->rows, name, code);
    if (function)
        listing->row_of[function] = (uint32_t)listing->rows.count;
    write_module(listing, module, ordinal);
    if (code)
        fprintf(listing->stream, "\t%016" PRIx64 "\t%" PRIu64, code, sum->calls);
    else
        fprintf(listing->stream, "\t-\t%" PRIu64, sum->calls);
    if (listing->counts_instructions)
        fprintf(listing->stream, "\t%" PRIu64, sum->self_instructions);
    else
        fputs("\t-", listing->stream);
    if (name) {
        putc('\t', listing->stream);
        utf8_write_plain(listing->stream, name);
    }
    putc('\n', listing->stream);
}

/* The number of a function that was recorded, or 0. */
static uint32_t recorded(const struct listing *listing, uint32_t image, uint32_t index)
{
    uint32_t function = images_recorded(listing->images, image, index);

    return listing->is_recorded[function] ? function : 0;
}

static int compare_indices(const void *left, const void *right, void *user)
{
    const struct function *functions = user;
    uint32_t a = functions[*(const uint32_t *)left].index;
    uint32_t b = functions[*(const uint32_t *)right].index;

    return (a > b) - (a < b);
}

/* Those that were recorded. */
static void write_recorded(struct listing *listing, uint32_t image, unsigned ordinal)
{
    size_t all = images_function_count(listing->images), count = 0;
    uint32_t *numbers = memory_zeroed(all, sizeof(*numbers));

    for (uint32_t i = 1; i < all; i++)
        if (listing->is_recorded[i] && listing->images->functions[i].image == image)
            numbers[count++] = i;
    qsort_r(numbers, count, sizeof(*numbers), compare_indices, listing->images->functions);
    for (size_t i = 0; i < count; i++)
        write_row(listing, image_name(&listing->images->images[image]), ordinal, 0, numbers[i]);
    free(numbers);
}

static void write_image(struct listing *listing, uint32_t number, unsigned ordinal)
{
    const struct image *image = &listing->images->images[number];
    uint64_t *codes = listing->has_nameless[number] ? match_codes(image) : NULL;

    for (uint32_t i = 0; codes && i < image->manifest.function_count; i++)
        write_row(listing, image_name(image), ordinal, codes[i], recorded(listing, number, i));
    if (!codes)
        write_recorded(listing, number, ordinal);
    free(codes);
}

static unsigned next_ordinal(const struct image *image, const struct image *before,
                             unsigned ordinal)
{
    return before && !strcmp(image_name(image), image_name(before)) ? ordinal + 1 : 1;
}

static void write_builds(const struct listing *listing, const uint32_t *order, size_t count)
{
    const struct image *images = listing->images->images;
    unsigned ordinal = 1;
    bool is_first = true;

    for (size_t i = 0; i < count; i++) {
        const struct image *image = &images[order[i]];
        ordinal = next_ordinal(image, i ? &images[order[i - 1]] : NULL, ordinal);
        if (!image->original_hash)
            continue;
        fprintf(listing->stream, "%s%016" PRIx64 "\t", is_first ? BASELINE_BUILDS "\n" : "",
                image->original_hash);
        write_module(listing, image_name(image), ordinal);
        putc('\n', listing->stream);
        is_first = false;
    }
}

static void write_images(struct listing *listing)
{
    const struct image *images = listing->images->images;
    uint32_t *order = memory_zeroed(listing->images->count, sizeof(*order));
    size_t count = 0;
    unsigned ordinal = 1;

    for (uint32_t i = 0; i < listing->images->count; i++)
        if (listing->has_functions[i])
            order[count++] = i;
    qsort_r(order, count, sizeof(*order), compare_images, listing->images->images);
    for (size_t i = 0; i < count; i++) {
        ordinal = next_ordinal(&images[order[i]], i ? &images[order[i - 1]] : NULL, ordinal);
        write_image(listing, order[i], ordinal);
    }
    write_builds(listing, order, count);
    free(order);
}

void baseline_write(FILE *stream, const struct view *view)
{
    size_t functions = images_function_count(view->images);
    struct listing listing = {
        .stream = stream,
        .images = view->images,
        .counts_instructions = profile_has_instructions(view->profile),
        .sums = memory_zeroed(functions, sizeof(*listing.sums)),
        .is_recorded = memory_zeroed(functions, sizeof(*listing.is_recorded)),
        .has_nameless = memory_zeroed(view->images->count, sizeof(*listing.has_nameless)),
        .has_functions = memory_zeroed(view->images->count, sizeof(*listing.has_functions)),
        .row_of = memory_zeroed(functions, sizeof(*listing.row_of)),
    };

    for (size_t i = view->first; i < view->first + view->count; i++)
        add_part(&listing, &view->profile->parts[i]);
    fputs(BASELINE_FIRST_LINE "\n" BASELINE_HEADINGS "\n", stream);
    write_images(&listing);
    baseline_contexts_write(stream, view, &listing.rows, listing.row_of);
    baseline_rows_free(&listing.rows);
    free(listing.row_of);
    free(listing.sums);
    free(listing.is_recorded);
    free(listing.has_nameless);
    free(listing.has_functions);
}
