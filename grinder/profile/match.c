#include "grinder/profile/match.h"

#include <stdlib.h>
#include <string.h>

#include "grinder/image/code_hash.h"
#include "grinder/profile/code_match.h"
#include "support/memory.h"

enum { IN_BEFORE = 1, IN_AFTER = 2 };

/* An image with functions that have no names. */
struct build {
    uint32_t image;
    unsigned recordings; /* it is in: IN_BEFORE, IN_AFTER */
    bool is_matched;
    struct code_list list; /* its codes are null if they are not known */
};

struct matching {
    const struct images *images;
    uint32_t *same;
    struct build *builds; /* by image */
};

bool match_is_nameless(const struct images *images, uint32_t number)
{
    const struct function *function = &images->functions[number];
    const char *module = image_name(&images->images[function->image]);
    size_t length = strlen(module);

    if (images->images[function->image].listed)
        return !images->images[function->image].listed[function->index].name;
    return !strncmp(function->name, module, length) &&
           (!strncmp(function->name + length, "!0x", 3) ||
            !strncmp(function->name + length, "!#", 2));
}

static uint64_t *listed_codes(const struct image *image)
{
    uint64_t *codes = memory_zeroed((size_t)image->function_count + 1, sizeof(*codes));

    for (uint32_t i = 0; i < image->function_count; i++)
        codes[i] = image->listed[i].code;
    return codes;
}

uint64_t *match_codes(const struct image *image)
{
    if (image->listed)
        return listed_codes(image);
    return image->problem || image->is_plain ? NULL
                                             : code_hashes_read(image->file, &image->manifest);
}

static uint32_t count_of(const struct image *image)
{
    return image->listed ? image->function_count : image->manifest.function_count;
}

static void note_recordings(struct matching *matching, const struct cost_table *table, unsigned bit)
{
    for (size_t i = 0; i < table->keys.count; i++)
        matching->builds[matching->images->functions[table->keys.pairs[i].a].image].recordings |=
            bit;
}

/* The code of an image is read only if some function of it has no name, and it is not the same in
 * both recordings. */
static void read_builds(struct matching *matching)
{
    const struct images *images = matching->images;
    bool *is_wanted = memory_zeroed(images->count, sizeof(*is_wanted));

    for (uint32_t i = 1; i < images_function_count(images); i++) {
        uint32_t image = images->functions[i].image;
        is_wanted[image] |= match_is_nameless(images, i) &&
                            matching->builds[image].recordings != (IN_BEFORE | IN_AFTER);
    }
    for (uint32_t i = 0; i < images->count; i++) {
        struct code_list *list = &matching->builds[i].list;
        matching->builds[i].image = i;
        list->codes = is_wanted[i] ? match_codes(&images->images[i]) : NULL;
        list->count = list->codes ? count_of(&images->images[i]) : 0;
        list->partners = memory_zeroed((size_t)list->count + 1, sizeof(*list->partners));
        for (uint32_t j = 0; j < list->count; j++)
            list->partners[j] = CODE_UNMATCHED;
    }
    free(is_wanted);
}

/* Whether it matches by what it is called: there is nothing else, or it is its own name. */
static bool goes_by_name(const struct matching *matching, uint32_t number)
{
    const struct function *function = &matching->images->functions[number];
    const struct code_list *list = &matching->builds[function->image].list;

    return function->index >= list->count || !list->codes[function->index] ||
           !match_is_nameless(matching->images, number);
}

static int compare_names(const void *left, const void *right, void *user)
{
    const struct function *functions = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = strcmp(functions[a].name, functions[b].name);

    return order ? order : (a > b) - (a < b);
}

static void match_names(struct matching *matching)
{
    const struct function *functions = matching->images->functions;
    size_t all = images_function_count(matching->images), count = 0;
    uint32_t *named = memory_zeroed(all, sizeof(*named));

    for (uint32_t i = 1; i < all; i++) {
        matching->same[i] = i;
        if (goes_by_name(matching, i))
            named[count++] = i;
    }
    qsort_r(named, count, sizeof(*named), compare_names, matching->images->functions);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(functions[named[i]].name, functions[named[i - 1]].name))
            matching->same[named[i]] = matching->same[named[i - 1]];
    free(named);
}

/* Functions of both that have a name each match already, or never do. */
static void seed(const struct matching *matching, struct build *before, struct build *after)
{
    const struct images *images = matching->images;
    size_t count = images_function_count(images);
    uint32_t *place = memory_zeroed(count, sizeof(*place)); /* by same, in after, + 1 */

    for (uint32_t i = 1; i < count; i++)
        if (images->functions[i].image == after->image &&
            images->functions[i].index < after->list.count)
            place[matching->same[i]] = images->functions[i].index + 1;
    for (uint32_t i = 1; i < count; i++) {
        const struct function *function = &images->functions[i];
        uint32_t found = place[matching->same[i]];
        if (function->image != before->image || function->index >= before->list.count || !found ||
            after->list.partners[found - 1] != CODE_UNMATCHED)
            continue;
        before->list.partners[function->index] = found - 1;
        after->list.partners[found - 1] = function->index;
    }
    free(place);
}

static void join(struct matching *matching, uint32_t before, uint32_t after)
{
    const struct images *images = matching->images;

    if (!before || !after || matching->same[before] == matching->same[after])
        return;
    if (match_is_nameless(images, before))
        matching->same[before] = matching->same[after];
    else if (match_is_nameless(images, after))
        matching->same[after] = matching->same[before];
}

static void match_builds(struct matching *matching, struct build *before, struct build *after)
{
    const struct images *images = matching->images;

    before->is_matched = after->is_matched = true;
    seed(matching, before, after);
    code_match(&before->list, &after->list);
    for (uint32_t i = 0; i < before->list.count; i++)
        if (before->list.partners[i] != CODE_UNMATCHED)
            join(matching, images_recorded(images, before->image, i),
                 images_recorded(images, after->image, before->list.partners[i]));
}

/* How likely two images are builds of one file; 0: they are not. */
typedef size_t likeness(const struct images *images, const struct build *before,
                        const struct build *after);

static size_t have_one_path(const struct images *images, const struct build *before,
                            const struct build *after)
{
    return !strcmp(images->images[before->image].path, images->images[after->image].path);
}

static size_t have_one_name(const struct images *images, const struct build *before,
                            const struct build *after)
{
    return !strcmp(image_name(&images->images[before->image]),
                   image_name(&images->images[after->image]));
}

static size_t share_code(const struct images *images, const struct build *before,
                         const struct build *after)
{
    (void)images;
    return code_shared(&before->list, &after->list);
}

static bool is_left(const struct build *build, unsigned recordings)
{
    return build->list.codes && !build->is_matched && build->recordings == recordings;
}

static void match_likely(struct matching *matching, likeness *likeness_of)
{
    size_t count = matching->images->count;

    for (size_t i = 0; i < count; i++) {
        struct build *before = &matching->builds[i], *best = NULL;
        size_t most = 0;
        for (size_t j = 0; is_left(before, IN_BEFORE) && j < count; j++) {
            size_t like = is_left(&matching->builds[j], IN_AFTER)
                              ? likeness_of(matching->images, before, &matching->builds[j])
                              : 0;
            if (like > most) {
                most = like;
                best = &matching->builds[j];
            }
        }
        if (best)
            match_builds(matching, before, best);
    }
}

uint32_t *match_functions(const struct images *images, const struct cost_table *before,
                          const struct cost_table *after)
{
    struct matching matching = {
        .images = images,
        .same = memory_zeroed(images_function_count(images), sizeof(*matching.same)),
        .builds = memory_zeroed(images->count, sizeof(*matching.builds)),
    };

    note_recordings(&matching, before, IN_BEFORE);
    note_recordings(&matching, after, IN_AFTER);
    read_builds(&matching);
    match_names(&matching);
    match_likely(&matching, have_one_path);
    match_likely(&matching, have_one_name);
    match_likely(&matching, share_code);
    for (size_t i = 0; i < images->count; i++) {
        free((uint64_t *)matching.builds[i].list.codes);
        free(matching.builds[i].list.partners);
    }
    free(matching.builds);
    return matching.same;
}
