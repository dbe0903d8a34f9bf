/*
 * Where the names and lines of an image come from, in this order; docs/symbols.md tells the user.
 *
 *      names and lines     the instrumented file itself
 *      lines are missing:  its separate debug file, by build-id or .gnu_debuglink: on this machine,
 *                          then on a server
 *      still missing:      its PDB
 *      still missing:      the file it was made from, if that is unchanged
 */
#ifndef UMBRA_GRINDER_SYMBOL_SOURCES_H
#define UMBRA_GRINDER_SYMBOL_SOURCES_H

#include "grinder/image/symbols.h"
#include "grinder/profile/images.h"

struct symbol_search {
    const char *const *debug_dirs; /* ends with null */
    const char *const *path_maps;
};

/* Adds names to symbols, and lines of the addresses that image->lines was begun with. What cannot
   be read costs names or lines and says so. */
void symbol_sources_read(struct image *image, const struct symbol_search *search,
                         struct symbol_table *symbols);

#endif
