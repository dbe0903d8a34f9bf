#include "rewriter/tool/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rewriter/base/input_file.h"
#include "rewriter/base/say.h"
#include "rewriter/tool/image_formats.h"
#include "rewriter/tool/link_table.h"
#include "rewriter/tool/rewrite.h"
#include "rewriter/tool/tree_apart.h"
#include "rewriter/tool/tree_copy.h"
#include "rewriter/tool/tree_keeper.h"
#include "support/memory.h"
#include "support/progress.h"

/* One walk through a tree. */
struct walk {
    const struct rewrite_options *options;
    const char *directory; /* where the new tree grows */
    int root;              /* the old tree, O_PATH */
    size_t root_length;    /* of its path, without slashes at its end */
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
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);

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

/* The length of the output's path, without slashes at its end. */
static size_t output_length(const struct walk *walk)
{
    size_t length = strlen(walk->options->output);

    while (length > 1 && walk->options->output[length - 1] == '/')
        length--;
    return length;
}

/* A failure that names a file of the new tree names it as it will be called. */
static bool name_output(const struct walk *walk, struct failure *failure)
{
    size_t length = strlen(walk->directory);
    struct failure named;

    if (strncmp(failure->text, walk->directory, length) == 0) {
        snprintf(named.text, sizeof(named.text), "%.*s%.500s", (int)output_length(walk),
                 walk->options->output, failure->text + length);
        *failure = named;
    }
    return false;
}

static void refuse(struct walk *walk, size_t *class, struct failure *failure)
{
    name_output(walk, failure);
    say_note("%s; copied as it is", failure->text);
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

static enum image_kind file_kind(const char *path, int descriptor)
{
    enum image_kind kind = IMAGE_KIND_OTHER;
    struct input_file file;
    struct failure ignored;

    if (input_file_take(&file, path, descriptor, &ignored)) {
        kind = image_format_of(file.bytes, file.size)->kind(file.bytes, file.size);
        input_file_close(&file);
    }
    return kind;
}

/*
 * The regular file that was found, by names in the tree only: if others may write to the tree, they
 * may put a link to elsewhere in the place of a directory meanwhile, or another file.
 */
static int file_open(const struct walk *walk, const FTSENT *entry, struct failure *failure)
{
    const char *below = entry->fts_path + walk->root_length;
    struct open_how how = {.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    struct stat status;
    int descriptor;

    below += strspn(below, "/");
    descriptor = (int)syscall(SYS_openat2, walk->root, below, &how, sizeof(how));
    if (descriptor < 0 && (errno == ENOSYS || errno == EPERM))
        descriptor = openat(walk->root, below, (int)how.flags);
    if (descriptor < 0 && errno != ELOOP && errno != EXDEV) {
        fail(failure, entry->fts_path, "cannot read it: %s", strerror(errno));
        return -1;
    }
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_dev == entry->fts_statp->st_dev && status.st_ino == entry->fts_statp->st_ino)
        return descriptor;
    if (descriptor >= 0)
        close(descriptor);
    fail(failure, entry->fts_path,
         "expected the file that was found there, found something else put in its place meanwhile");
    return -1;
}

static void say_file(const struct walk *walk, const FTSENT *entry,
                     const struct rewrite_result *rewritten)
{
    progress_clear();
    say_result("%.*s%s: %zu functions found, %zu hooked, %zu left alone, %zu of them for want of a "
               "safe patch",
               (int)output_length(walk), walk->options->output, entry->fts_path + walk->root_length,
               rewritten->found, rewritten->hooked, rewritten->found - rewritten->hooked,
               rewritten->unsafe);
}

/* False, and counted, if the file is to be copied instead. */
static bool instrument_file(struct walk *walk, const FTSENT *entry, int descriptor, const char *to)
{
    struct rewrite_options options = *walk->options;
    struct tree_result *result = walk->result;
    struct rewrite_result rewritten;
    struct failure failure;
    enum image_kind kind = file_kind(entry->fts_path, descriptor);

    if (kind == IMAGE_KIND_OTHER)
        return false;
    if (kind == IMAGE_KIND_AGENT) {
        fail(&failure, entry->fts_path, "expected anything but the agent itself, found it");
        refuse(walk, NULL, &failure);
        return false;
    }
    options.input = entry->fts_path;
    options.descriptor = descriptor;
    options.output = to;
    options.overwrite = false;
    if (!rewrite_file(&options, &rewritten, &failure)) {
        refuse(walk, refusal_class(result, kind), &failure);
        return false;
    }
    if (rewritten.hooked == 0) {
        unlink(to);
        fail(&failure, entry->fts_path, "nothing is to be hooked in it");
        refuse(walk, &result->no_functions, &failure);
        return false;
    }
    rewrite_say_losses(entry->fts_path, &rewritten);
    say_file(walk, entry, &rewritten);
    result->instrumented++;
    result->unsafe += rewritten.unsafe;
    result->found += rewritten.found;
    result->hooked += rewritten.hooked;
    result->copied += rewritten.copied;
    return true;
}

static bool take_file(struct walk *walk, const FTSENT *entry, const char *to,
                      struct failure *failure)
{
    const char *copy = link_table_find(&walk->links, entry->fts_statp);
    int descriptor;
    bool is_taken;

    if (copy) {
        if (link(copy, to) == 0)
            return true;
        return fail(failure, to, "cannot write it: %s", strerror(errno));
    }
    progress_show(++walk->result->files, walk->total, entry->fts_name);
    descriptor = file_open(walk, entry, failure);
    if (descriptor < 0)
        return false;
    is_taken = instrument_file(walk, entry, descriptor, to)
                   ? copy_attributes(to, entry->fts_statp, failure)
                   : copy_file(descriptor, entry->fts_path, to, entry->fts_statp, failure);
    close(descriptor);
    if (is_taken)
        link_table_add(&walk->links, entry->fts_statp, to);
    return is_taken;
}

static bool take(struct walk *walk, const FTSENT *entry, struct failure *failure)
{
    char to[PATH_MAX];

    if (snprintf(to, sizeof(to), "%s%s", walk->directory, entry->fts_path + walk->root_length) >=
        (int)sizeof(to))
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
    case FTS_DC:
        return fail(failure, entry->fts_path,
                    "expected a tree, found a directory that contains itself: %s",
                    entry->fts_cycle->fts_path);
    default:
        return fail(failure, entry->fts_path, "cannot read it: %s", strerror(entry->fts_errno));
    }
}

static bool walk_all(struct walk *walk, FTS *tree, struct failure *failure)
{
    FTSENT *entry;

    while ((errno = 0, entry = fts_read(tree)))
        if (!take(walk, entry, failure))
            return name_output(walk, failure);
    if (errno)
        return fail(failure, walk->options->input, "cannot read it: %s", strerror(errno));
    return walk->result->instrumented > 0 ||
           fail(failure, walk->options->input,
                "expected programs or libraries to instrument, found none in %zu files",
                walk->result->files);
}

static bool fill(const char *directory, const void *context, void *result, struct failure *failure)
{
    const struct rewrite_options *options = context;
    struct walk walk = {.options = options, .directory = directory, .result = result};
    FTS *tree = NULL;
    bool is_fine;

    walk.root_length = strlen(options->input);
    while (walk.root_length && options->input[walk.root_length - 1] == '/')
        walk.root_length--;
    walk.root = open(options->input, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (walk.root < 0)
        return fail(failure, options->input, "cannot read it: %s", strerror(errno));
    is_fine = count_files(options->input, &walk.total, failure) &&
              (tree = tree_open(options->input, failure)) && walk_all(&walk, tree, failure);
    progress_clear();
    if (tree)
        fts_close(tree);
    close(walk.root);
    link_table_free(&walk.links);
    if (is_fine && options->filter)
        filter_warn(options->filter);
    if (is_fine && options->times)
        filter_warn(options->times);
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
        .result_size = sizeof(*result),
    };

    *result = (struct tree_result){0};
    return tree_check_apart(options->input, options->output, options->overwrite, failure) &&
           tree_keep(&work, result, failure);
}
