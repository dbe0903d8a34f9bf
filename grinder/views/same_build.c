#include "grinder/views/same_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/profile/own_name.h"
#include "support/memory.h"

/* By image: whether some function of it is in the profile. */
static bool *images_of(const struct images *images, const struct profile *profile)
{
    bool *is_in = memory_zeroed(images->count, sizeof(*is_in));

    for (size_t part = 0; part < profile->part_count; part++) {
        const struct cost_table *functions = &profile->parts[part].functions;
        for (size_t i = 0; i < functions->keys.count; i++)
            is_in[images->functions[functions->keys.pairs[i].a].image] = true;
    }
    return is_in;
}

static bool has_build(const struct image *image)
{
    return image->original_hash && !image->is_plain && !image->is_jit;
}

/* A file may be instrumented in other ways, with other functions. */
static bool are_one_build(const struct image *left, const struct image *right)
{
    return has_build(left) && has_build(right) && left->original_hash == right->original_hash &&
           (left->listed || right->listed || left->function_count == right->function_count);
}

/* Whether each build of the one is among those of the other; false if one is not known. */
static bool are_among(const struct images *images, const bool *one, const bool *other)
{
    bool has_some = false;

    for (size_t i = 0; i < images->count; i++) {
        const struct image *image = &images->images[i];
        size_t j = 0;
        if (one[i] && image->listed && !has_build(image))
            return false;
        if (!one[i] || !has_build(image))
            continue;
        while (j < images->count && !(other[j] && are_one_build(image, &images->images[j])))
            j++;
        if (j == images->count)
            return false;
        has_some = true;
    }
    return has_some;
}

bool same_build(const struct images *images, const struct profile *left,
                const struct profile *right)
{
    bool *of_left = images_of(images, left), *of_right = images_of(images, right);
    bool is_same = are_among(images, of_left, of_right) && are_among(images, of_right, of_left);

    free(of_left);
    free(of_right);
    return is_same;
}

enum layout { LAYOUT_UNKNOWN, LAYOUT_FIXED, LAYOUT_MOVED };

static bool has_moved(const struct images *images, const struct process *left,
                      const struct process *right)
{
    for (size_t i = 0; i < left->module_count; i++) {
        const struct module_facts *module = &left->modules[i];
        for (size_t j = 0; module->image && j < right->module_count; j++)
            if (right->modules[j].base != module->base &&
                are_one_build(&images->images[module->image],
                              &images->images[right->modules[j].image]))
                return true;
    }
    return false;
}

/* Where first processes had their modules and their traces, of which the kernel chose the places.
 */
static enum layout compare_layouts(const struct images *images, const struct profile *left,
                                   const struct profile *right)
{
    const struct process *a = &left->processes[0], *b = &right->processes[0];
    bool are_known = a->header.base && b->header.base;

    if (has_moved(images, a, b) || (are_known && a->header.base != b->header.base))
        return LAYOUT_MOVED;
    return are_known ? LAYOUT_FIXED : LAYOUT_UNKNOWN;
}

static const char *arguments_of(const struct profile *profile)
{
    const char *command = profile->processes[0].header.command;

    return command + strcspn(command, " ");
}

static bool have_other_arguments(const struct profile *left, const struct profile *right)
{
    return !left->listed && !right->listed && strcmp(arguments_of(left), arguments_of(right)) != 0;
}

/* Whether a program, or a module, has a name that begins so. */
static bool runs(const struct profile *profile, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < profile->process_count; i++) {
        const struct process *process = &profile->processes[i];
        if (!strncmp(own_name_of_path(process->header.exe), name, length))
            return true;
        for (size_t j = 0; j < process->module_count; j++)
            if (!strncmp(own_name_of_path(process->modules[j].path), name, length))
                return true;
    }
    return false;
}

static bool has_threads(const struct profile *profile)
{
    for (size_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].thread_count > 1)
            return true;
    return false;
}

char *same_build_causes(const struct images *images, const struct profile *left,
                        const struct profile *right)
{
    static const struct {
        const char *name, *cause;
    } languages[] = {
        {"python", "python's hashes (PYTHONHASHSEED=0), "},
        {"libpython", "python's hashes (PYTHONHASHSEED=0), "},
        {"perl", "perl's hashes (PERL_HASH_SEED=0), "},
        {"libperl", "perl's hashes (PERL_HASH_SEED=0), "},
    };
    enum layout layout = compare_layouts(images, left, right);
    const char *last = "";
    char *text = NULL;
    size_t size;
    FILE *stream = memory_or_exit(open_memstream(&text, &size), sizeof(FILE));

    if (have_other_arguments(left, right))
        fputs("arguments, which were not the same, ", stream);
    if (layout != LAYOUT_FIXED)
        fprintf(stream, "addresses%s (setarch -R), ",
                layout == LAYOUT_MOVED ? ", which were not the same" : "");
    for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++) {
        if (!strcmp(last, languages[i].cause) ||
            !(runs(left, languages[i].name) || runs(right, languages[i].name)))
            continue;
        last = languages[i].cause;
        fputs(last, stream);
    }
    if (has_threads(left) || has_threads(right))
        fputs("what threads do first, ", stream);
    fputs("the environment (env -i), files, time or random numbers", stream);
    fclose(stream);
    return text;
}
