/* The other parts of Umbra, found from the file that this program is run from: beside it where it is installed, or in
   the same build directory. */
#ifndef UMBRA_SUPPORT_NEIGHBOUR_H
#define UMBRA_SUPPORT_NEIGHBOUR_H

#include <limits.h>
#include <stdbool.h>

/* The folder of this program's file. False: the system does not tell, without /proc. */
bool neighbour_folder(char folder[PATH_MAX]);

/*
 * The first place that there is, made absolute. places: patterns (glob), seen from the folder, whose own name is none;
 * null at the end. mode: what access is to grant: F_OK, X_OK. False: there is none.
 */
bool neighbour_find(const char *folder, const char *const *places, int mode, char path[PATH_MAX]);

#endif
