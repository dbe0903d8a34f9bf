#include "rewriter/tool/bisect.h"

#include "image/manifest.h"
#include "rewriter/base/input_file.h"
#include "rewriter/base/say.h"
#include "rewriter/functions/patch_reason.h"
#include "rewriter/tool/bisect_place.h"
#include "rewriter/tool/image_formats.h"
#include "rewriter/tool/rewrite.h"
#include "support/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CULPRITS 16 /* sets of functions that fail without the others */

/* A stretch of the functions that were hooked in the first copy, ascending by address. */
struct stretch {
    const uint64_t *functions;
    size_t count;
};

struct search {
    const struct rewrite_options *options;
    struct bisect_place *place;
    const char **command;
    struct failure *failure;
    bool has_failed; /* then, for a reason of our own */
    unsigned runs;

    uint64_t *hooked; /* owned: in the hooked copy, of hooked_count */
    size_t hooked_count;
    uint64_t *culprits; /* owned, of culprit_count */
    size_t culprit_count;
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
static bool fails_with(struct search *search, const uint64_t *functions, size_t count)
{
    struct chosen_functions only = {functions, count};
    char what[64];

    if (search->has_failed || !rewrite_copy(search, &only))
        return false;
    snprintf(what, sizeof what, "%zu of %zu functions hooked", count, search->hooked_count);
    return fails_now(search, what);
}

/* Both, sorted; to be freed. */
static uint64_t *join(struct stretch a, struct stretch b)
{
    uint64_t *joined = memory_zeroed(a.count + b.count + 1, sizeof *joined);

    memcpy(joined, a.functions, a.count * sizeof *joined);
    memcpy(joined + a.count, b.functions, b.count * sizeof *joined);
    qsort(joined, a.count + b.count, sizeof *joined, by_address);
    return joined;
}

static bool fails_with_both(struct search *search, struct stretch a, struct stretch b)
{
    uint64_t *joined = join(a, b);
    bool fails = fails_with(search, joined, a.count + b.count);

    free(joined);
    return fails;
}

static void add_culprit(struct search *search, uint64_t address)
{
    search->culprits = realloc(search->culprits, (search->culprit_count + 1) * sizeof address);
    if (!search->culprits)
        abort();
    search->culprits[search->culprit_count++] = address;
}

/* It fails with `suspects` and `always` hooked, and not with `always` alone. */
static void narrow(struct search *search, struct stretch suspects, struct stretch always)
{
    size_t half = suspects.count / 2;
    struct stretch first = {suspects.functions, half};
    struct stretch second = {suspects.functions + half, suspects.count - half};
    uint64_t *joined;

    if (search->has_failed)
        return;
    if (suspects.count <= 1) {
        if (suspects.count)
            add_culprit(search, suspects.functions[0]);
        return;
    }
    if (fails_with_both(search, first, always)) {
        narrow(search, first, always);
    } else if (fails_with_both(search, second, always)) {
        narrow(search, second, always);
    } else {
        joined = join(second, always);
        narrow(search, first, (struct stretch){joined, second.count + always.count});
        free(joined);
        joined = join(first, always);
        narrow(search, second, (struct stretch){joined, first.count + always.count});
        free(joined);
    }
}

/* Of the copy with all hooks: which functions it has. */
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
        search->hooked = memory_zeroed(manifest.function_count + 1, sizeof *search->hooked);
        for (uint32_t i = 0; is_read && i < manifest.function_count; i++)
            if (patch_reason_is_hooked(manifest.functions[i].reason))
                search->hooked[search->hooked_count++] = image.base + manifest.functions[i].rva;
        manifest_free(&manifest);
        image_close(&image);
    }
    input_file_close(&input);
    qsort(search->hooked, search->hooked_count, sizeof *search->hooked, by_address);
    return is_read || fail(search->failure, search->place->copy, "expected a manifest, found none");
}

/* Prints the functions that were found last, from number `from` on. */
static void print_culprits(const struct search *search, size_t from)
{
    size_t count = search->culprit_count - from;

    if (count > 1)
        say_result("it fails when these %zu functions are hooked together:", count);
    for (size_t i = from; i < search->culprit_count; i++) {
        char *name = bisect_place_name(search->options->input, search->culprits[i]);

        say_result("culprit: %#" PRIx64 "%s%s; leave it out with --exclude=%#" PRIx64,
                   search->culprits[i], name ? " " : "", name ? name : "", search->culprits[i]);
        free(name);
    }
}

/* All hooked ones but the culprits so far; to be freed. */
static struct stretch others(const struct search *search)
{
    uint64_t *left = memory_zeroed(search->hooked_count + 1, sizeof *left);
    size_t count = 0;

    for (size_t i = 0; i < search->hooked_count; i++) {
        bool is_culprit = false;

        for (size_t j = 0; j < search->culprit_count; j++)
            is_culprit |= search->culprits[j] == search->hooked[i];
        if (!is_culprit)
            left[count++] = search->hooked[i];
    }
    return (struct stretch){left, count};
}

static bool find_all(struct search *search)
{
    const struct stretch none = {NULL, 0};

    for (int sets = 0; sets < MOST_CULPRITS && !search->has_failed; sets++) {
        struct stretch suspects = others(search);
        size_t from = search->culprit_count;

        if (sets == 0 || fails_with(search, suspects.functions, suspects.count))
            narrow(search, suspects, none);
        free((void *)(uintptr_t)suspects.functions);
        if (search->culprit_count == from)
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
    return find_all(search) &&
           (search->culprit_count || fail(search->failure, path, "found no function to blame"));
}

bool bisect(const struct rewrite_options *options, const char **command, struct failure *failure)
{
    struct rewrite_options wanted = *options;
    char *found = options->input ? NULL : bisect_place_find(command[0]);
    struct bisect_place place;
    struct search search = {
        .options = &wanted, .place = &place, .command = command, .failure = failure};
    bool is_done;

    wanted.input = options->input ? options->input : found;
    if (!wanted.input)
        return fail(failure, command[0], "cannot find the program of the command");
    is_done = bisect_place_open(&place, wanted.input, failure);
    if (is_done) {
        is_done = search_through(&search);
        bisect_place_close(&place);
    }
    free(search.hooked);
    free(search.culprits);
    free(found);
    return is_done;
}
