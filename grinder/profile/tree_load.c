#include "grinder/profile/tree_load.h"

#include "grinder/profile/copied_sites.h"
#include "grinder/profile/jit_callers.h"
#include "grinder/profile/samples.h"
#include "grinder/profile/stacked_tree.h"

int tree_load(struct tree *tree, const char *path, struct images *images, struct trace_error *error)
{
    if (tree_read(tree, path, images, error) < 0)
        return -1;
    stacked_tree_add(tree, images);
    copied_sites_resolve(tree, images);
    samples_read(tree, images);
    jit_callers_add(tree, images);
    return 0;
}
