#include "rewriter/tool/bisect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/manifest.h"
#include "rewriter/base/input_file.h"
#include "rewriter/base/say.h"
#include "rewriter/functions/patch_reason.h"
#include "rewriter/tool/bisect_place.h"
#include "rewriter/tool/image_formats.h"
#include "rewriter/tool/rewrite.h"
#include "support/memory.h"
#include "support/narrowing.h"

#define MOST_CULPRITS 16 /* sets of functions that fail without the others */

struct search {
    const struct rewrite_options *options;
    struct bisect_place *place;
    const char **command;
    struct failure *failure;
    bool has_failed; /* then, for a reason of our own */
    unsigned runs;

    uint64_t *hooked; /* owned: in the hooked copy, of hooked_count */
    size_t hooked_count;
    struct narrowing culprits; /* those of all sets so far */
};

static int by_address(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static bool rewrite_copy(struct search *search, const struct chosen_functions *only)
{
    struct rewrite_options options = *search->options;
    struct rewrite_result result;

    options.output = search->place->copy;
    options.overwrite = true;
    options.only = only;
    search->has_failed = !rewrite_file(&options, &result, search->failure);
    return !search->has_failed;
}

/* Does the command fail? False where it cannot be told, too: has_failed. */
static bool fails_now(struct search *search, const char *what)
{
    struct bisect_end end;
    char how[BISECT_HOW_SIZE];

    if (!bisect_place_run(search->place, search->command, &end, search->failure)) {
        search->has_failed = true;
        return false;
    }
    bisect_end_write(&end, how);
    say_result("run %u: %s: %s", ++search->runs, what, how);
    fflush(stdout);
    return !end.is_success;
}

/* With these and no others hooked. */
static bool fails_with(void *owner, const uint64_t *functions, size_t count)
{
    struct search *search = owner;
    struct chosen_functions only = {functions, count};
    char what[64];
    bool fails;

    if (search->has_failed || !rewrite_copy(search, &only)) {
        search->culprits.is_over = true;
        return false;
    }
    snprintf(what, sizeof(what), "%zu of %zu functions hooked", count, search->hooked_count);
    fails = fails_now(search, what);
    search->culprits.is_over = search->has_failed;
    return fails;
}

/* Reads which functions the copy with all hooks has. */
static bool read_hooked(struct search *search)
{
    struct input_file input;
    struct image image;
    struct manifest manifest = {0};
    bool is_read = false;

    if (!input_file_open(&input, search->place->copy, search->failure))
        return false;
    if (image_open(&image, &input, search->failure)) {
        struct bounded_file file = bounded_file_of(input.bytes, input.size);

        is_read = manifest_load(&manifest, &file) == MANIFEST_WHOLE;
        search->hooked = memory_zeroed(manifest.function_count + 1, sizeof(*search->hooked));
        for (uint32_t i = 0; is_read && i < manifest.function_count; i++)
            if (patch_reason_is_hooked(manifest.functions[i].reason))
                search->hooked[search->hooked_count++] = image.base + manifest.functions[i].rva;
        manifest_free(&manifest);
        image_close(&image);
    }
    input_file_close(&input);
    qsort(search->hooked, search->hooked_count, sizeof(*search->hooked), by_address);
    return is_read || fail(search->failure, search->place->copy, "expected a manifest, found none");
}

/* Prints the functions that were found last, from number `from` on. */
static void print_culprits(const struct search *search, size_t from)
{
    const uint64_t *culprits = search->culprits.needed;
    size_t count = search->culprits.needed_count - from;

    if (count > 1)
        say_result("it fails when these %zu functions are hooked together:", count);
    for (size_t i = from; i < search->culprits.needed_count; i++) {
        char *name = bisect_place_name(search->options->input, culprits[i]);

        say_result("culprit: %#" PRIx64 "%s%s; leave it out with --exclude=%#" PRIx64, culprits[i],
                   name ? " " : "", name ? name : "", culprits[i]);
        free(name);
    }
}

/* All hooked ones but the culprits so far; to be freed. */
static uint64_t *others(const struct search *search, size_t *count)
{
    uint64_t *left = memory_zeroed(search->hooked_count + 1, sizeof(*left));

    for (size_t i = 0; i < search->hooked_count; i++) {
        bool is_culprit = false;

        for (size_t j = 0; j < search->culprits.needed_count; j++)
            is_culprit |= search->culprits.needed[j] == search->hooked[i];
        if (!is_culprit)
            left[(*count)++] = search->hooked[i];
    }
    return left;
}

static bool find_all(struct search *search)
{
    for (int sets = 0; sets < MOST_CULPRITS && !search->has_failed; sets++) {
        size_t count = 0, from = search->culprits.needed_count;
        uint64_t *suspects = others(search, &count);

        if (sets == 0 || fails_with(search, suspects, count))
            narrow(&search->culprits, suspects, count);
        free(suspects);
        if (search->culprits.needed_count == from)
            break;
        print_culprits(search, from);
    }
    return !search->has_failed;
}

static bool search_through(struct search *search)
{
    const char *path = search->options->input;

    if (!bisect_place_copy(search->place, path, search->failure))
        return false;
    if (fails_now(search, "the original"))
        return fail(search->failure, path,
                    "expected the command to succeed with a copy of the original, but it fails: "
                    "hooks are not the reason, or it has to find the image by another way");
    if (search->has_failed || !rewrite_copy(search, NULL) || !read_hooked(search))
        return false;
    if (!fails_with(search, search->hooked, search->hooked_count))
        return search->has_failed
                   ? false
                   : fail(
                         search->failure, path,
                         "expected the command to fail with all functions hooked, but it succeeds: "
                         "run it recorded (call_trace_service start -- COMMAND), if that is how it "
                         "fails");
    return find_all(search) && (search->culprits.needed_count ||
                                fail(search->failure, path, "found no function to blame"));
}

bool bisect(const struct rewrite_options *options, const char **command, struct failure *failure)
{
    struct rewrite_options wanted = *options;
    char *found = options->input ? NULL : bisect_place_find(command[0]);
    struct bisect_place place;
    struct search search = {
        .options = &wanted, .place = &place, .command = command, .failure = failure};
    bool is_done;

    search.culprits = (struct narrowing){.fails = fails_with, .owner = &search};
    wanted.input = options->input ? options->input : found;
    if (!wanted.input)
        return fail(failure, command[0], "cannot find the program of the command");
    is_done = bisect_place_open(&place, wanted.input, failure);
    if (is_done) {
        is_done = search_through(&search);
        bisect_place_close(&place);
    }
    free(search.hooked);
    free(search.culprits.needed);
    free(found);
    return is_done;
}
