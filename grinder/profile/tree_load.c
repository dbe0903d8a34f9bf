#include "grinder/profile/tree_load.h"

#include "grinder/profile/copied_sites.h"
#include "grinder/profile/jit_callers.h"
#include "grinder/profile/samples.h"
#include "grinder/profile/stacked_tree.h"
#include "grinder/profile/under_way.h"
#include "grinder/profile/unhooked.h"

bool tree_load(struct tree *tree, const struct trace_file *file, struct images *images,
               struct failure *failure)
{
    if (!tree_read(tree, file, images, failure))
        return false;
    stacked_tree_add(tree, images);
    tree_sort_hits(tree);
    copied_sites_resolve(tree, images);
    samples_read(tree, images);
    unhooked_read(tree, images);
    under_way_add(tree, images);
    jit_callers_add(tree, images);
    return true;
}

bool tree_load_path(struct tree *tree, const char *path, struct images *images,
                    struct failure *failure)
{
    struct trace_file file;
    bool is_loaded;

    if (!trace_file_open(&file, path, failure))
        return false;
    is_loaded = tree_load(tree, &file, images, failure);
    trace_file_close(&file);
    return is_loaded;
}
