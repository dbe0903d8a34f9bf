/* Checks that a new tree does not touch the one it is made from. */
#ifndef UMBRA_REWRITER_TREE_APART_H
#define UMBRA_REWRITER_TREE_APART_H

#include "support/failure.h"

/*
 * Fails if `output` is the directory `input`, or would lie within it; or if it is a directory to be
 * replaced that holds `input`, or anything mounted: what is replaced is removed. Directories are
 * told by device and inode, so links, `..` and bind mounts do not hide one.
 */
bool tree_check_apart(const char *input, const char *output, bool overwrite,
                      struct failure *failure);

#endif
