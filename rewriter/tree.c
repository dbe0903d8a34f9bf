#include "rewriter/tree.h"

#include "rewriter/image_format.h"
#include "rewriter/input_file.h"
#include "rewriter/link_table.h"
#include "rewriter/memory.h"
#include "rewriter/say.h"
#include "rewriter/tree_copy.h"
#include "rewriter/tree_keeper.h"
#include "support/progress.h"

#include <errno.h>
#include <fts.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One walk through a tree. */
struct walk {
    const struct rewrite_options *options;
    const char *directory; /* where the new tree grows */
    size_t root_length;    /* of the path of the old one, without slashes at its end */
    size_t total;          /* files in it, for the progress line */
    struct link_table links;
    struct tree_result *result;
};

static int by_name(const FTSENT **left, const FTSENT **right)
{
    return strcmp((*left)->fts_name, (*right)->fts_name);
}

static FTS *tree_open(const char *path, struct failure *failure)
{
    char *paths[] = {(char *)(uintptr_t)path, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);

    if (!tree)
        fail(failure, path, "cannot read it: %s", strerror(errno));
    return tree;
}

static bool count_files(const char *path, size_t *count, struct failure *failure)
{
    FTS *tree = tree_open(path, failure);
    FTSENT *entry;

    if (!tree)
        return false;
    while ((entry = fts_read(tree)))
        *count += entry->fts_info == FTS_F;
    fts_close(tree);
    return true;
}

static void refuse(struct walk *walk, size_t *class, const char *text)
{
    say_note("%s; copied as it is", text);
    walk->result->refused++;
    if (class)
        ++*class;
}

static size_t *refusal_class(struct tree_result *result, enum image_kind kind)
{
    switch (kind) {
    case IMAGE_KIND_GO:
        return &result->is_go;
    case IMAGE_KIND_INSTRUMENTED:
        return &result->is_instrumented;
    case IMAGE_KIND_MACHINE:
        return &result->other_machine;
    default:
        return NULL;
    }
}

static enum image_kind file_kind(const char *path)
{
    enum image_kind kind = IMAGE_KIND_OTHER;
    struct input_file file;
    struct failure ignored;

    if (input_file_open(&file, path, &ignored)) {
        kind = image_format_of(file.bytes, file.size)->kind(file.bytes, file.size);
        input_file_close(&file);
    }
    return kind;
}

/* False, and counted, if the file is to be copied instead. */
static bool instrument_file(struct walk *walk, const FTSENT *entry, const char *to)
{
    struct rewrite_options options = *walk->options;
    struct tree_result *result = walk->result;
    struct rewrite_result rewritten;
    struct failure failure;
    enum image_kind kind = file_kind(entry->fts_path);

    if (kind == IMAGE_KIND_OTHER)
        return false;
    if (kind == IMAGE_KIND_AGENT) {
        fail(&failure, entry->fts_path, "expected anything but the agent itself, found it");
        refuse(walk, NULL, failure.text);
        return false;
    }
    options.input = entry->fts_path;
    options.output = to;
    options.overwrite = false;
    if (!rewrite_file(&options, &rewritten, &failure)) {
        refuse(walk, refusal_class(result, kind), failure.text);
        return false;
    }
    if (rewritten.hooked == 0) {
        unlink(to);
        fail(&failure, entry->fts_path, "nothing is to be hooked in it");
        refuse(walk, &result->no_functions, failure.text);
        return false;
    }
    result->instrumented++;
    result->found += rewritten.found;
    result->hooked += rewritten.hooked;
    return true;
}

static bool take_file(struct walk *walk, const FTSENT *entry, const char *to,
                      struct failure *failure)
{
    const char *copy = link_table_find(&walk->links, entry->fts_statp);

    if (copy) {
        if (link(copy, to) == 0)
            return true;
        return fail(failure, to, "cannot write it: %s", strerror(errno));
    }
    progress_show(++walk->result->files, walk->total, entry->fts_name);
    if (instrument_file(walk, entry, to)
            ? !copy_attributes(to, entry->fts_statp, failure)
            : !copy_file(entry->fts_path, to, entry->fts_statp, failure))
        return false;
    link_table_add(&walk->links, entry->fts_statp, to);
    return true;
}

static bool take(struct walk *walk, const FTSENT *entry, struct failure *failure)
{
    char to[PATH_MAX];

    if (snprintf(to, sizeof to, "%s%s", walk->directory, entry->fts_path + walk->root_length) >=
        (int)sizeof to)
        return fail(failure, entry->fts_path, "cannot copy it: %s", strerror(ENAMETOOLONG));
    switch (entry->fts_info) {
    case FTS_D:
        if (entry->fts_level > 0 && mkdir(to, 0700) < 0)
            return fail(failure, to, "cannot write it: %s", strerror(errno));
        return true;
    case FTS_DP:
        return copy_attributes(to, entry->fts_statp, failure);
    case FTS_SL:
    case FTS_SLNONE:
        return copy_symlink(entry->fts_path, to, entry->fts_statp, failure);
    case FTS_F:
        return take_file(walk, entry, to, failure);
    case FTS_DEFAULT:
        say_note("%s: neither file, directory nor link; left out", entry->fts_path);
        walk->result->omitted++;
        return true;
    default:
        return fail(failure, entry->fts_path, "cannot read it: %s", strerror(entry->fts_errno));
    }
}

static bool fill(const char *directory, const void *context, void *result, struct failure *failure)
{
    struct walk walk = {.options = context, .directory = directory, .result = result};
    FTS *tree = NULL;
    FTSENT *entry;
    bool is_fine = count_files(walk.options->input, &walk.total, failure) &&
                   (tree = tree_open(walk.options->input, failure));

    walk.root_length = strlen(walk.options->input);
    while (walk.root_length && walk.options->input[walk.root_length - 1] == '/')
        walk.root_length--;
    while (is_fine && (errno = 0, entry = fts_read(tree)))
        is_fine = take(&walk, entry, failure);
    if (is_fine && errno)
        is_fine = fail(failure, walk.options->input, "cannot read it: %s", strerror(errno));
    progress_clear();
    if (tree)
        fts_close(tree);
    link_table_free(&walk.links);
    if (is_fine && walk.result->instrumented == 0)
        is_fine = fail(failure, walk.options->input,
                       "expected programs or libraries to instrument, found none in %zu files",
                       walk.result->files);
    if (is_fine && walk.options->filter)
        filter_warn(walk.options->filter);
    return is_fine;
}

/* A tree that grew within the one that is walked would have no end. */
static bool is_outside(const char *input, const char *output, struct failure *failure)
{
    char *name = memory_zeroed(strlen(output) + 1, 1);
    char *tree = realpath(input, NULL);
    char *parent = realpath(dirname(strcpy(name, output)), NULL);
    size_t length = tree ? strlen(tree) : 0;
    bool is_fine = false;

    if (!tree)
        fail(failure, input, "cannot read it: %s", strerror(errno));
    else if (!parent)
        fail(failure, output, "cannot write there: %s", strerror(errno));
    else if (strncmp(parent, tree, length) == 0 && (!parent[length] || parent[length] == '/'))
        fail(failure, input, "expected -o outside this directory, found %s within it", output);
    else
        is_fine = true;
    free(name);
    free(tree);
    free(parent);
    return is_fine;
}

bool rewrite_tree(const struct rewrite_options *options, struct tree_result *result,
                  struct failure *failure)
{
    struct tree_work work = {
        .path = options->output,
        .overwrite = options->overwrite,
        .fill = fill,
        .context = options,
        .result_size = sizeof *result,
    };

    *result = (struct tree_result){0};
    return is_outside(options->input, options->output, failure) &&
           tree_keep(&work, result, failure);
}
