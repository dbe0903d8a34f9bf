/*
 * The PDB of an image, by what its debug directory says of it: the name and the GUID and age that
 * both were given. Looked for, in this order:
 *
 *      folder of the image/NAME
 *      folder of the original/NAME
 *      the path as recorded, under the rules of recorded_path.h
 *      DIR/NAME, DIR/NAME/GUIDAGE/NAME       DIR: --debug-dir; the second as symbol servers have it
 */
#ifndef UMBRA_GRINDER_PDB_FIND_H
#define UMBRA_GRINDER_PDB_FIND_H

#include "grinder/image/pe_file.h"
#include "grinder/symbols/pdb_file.h"

struct pdb_search {
    const char *image_path;
    const char *original_path; /* null if not known */
    const char *const *debug_dirs;
    const char *const *path_maps;
};

/* Opens it. 0, or -1 if there is none; of one that is there and does not fit it says so. */
int pdb_find(struct pdb_file *pdb, const struct pdb_search *search, const struct pe_file *pe);

#endif
