/*
 * A copy that takes its original's place may be read and executed by whom the original may:
 *
 *      owner, group      the original's. Who may not give files away owns the copy, and then the
 *                        copy must let him read and execute what the original does
 *      permissions       the original's, but for set-uid, set-gid and sticky
 *      access list       the original's, or none
 *      labels            SELinux' and Smack's: the original's, if it has any
 *      time              of the last change: the original's
 */
#ifndef UMBRA_FRONT_RESEMBLANCE_H
#define UMBRA_FRONT_RESEMBLANCE_H

#include <stdbool.h>
#include <sys/stat.h>

#define RESEMBLANCE_ATTRIBUTES 5

/* The extended attributes that are meant. */
extern const char *const resemblance_attributes[RESEMBLANCE_ATTRIBUTES];

/* Makes a copy resemble its original. Both are open, and not with O_PATH alone; status is the original's. False with errno: nobody is
   to get that copy. */
bool file_resemble(int copy, int original, const struct stat *status);

/* Whether a copy resembles its original, as far as this user can have it so. False with errno, EPERM if
   it does not. */
bool file_resembles(int copy, int original, const struct stat *status);

#endif
