/* Instrumented files of a recording: which become some, and how the recording keeps them. */
#ifndef UMBRA_FRONT_RECORDED_IMAGE_H
#define UMBRA_FRONT_RECORDED_IMAGE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "front/recording/recording.h"

/* The agent, and dynamic linkers: no word is said of them. */
bool image_is_never_instrumented(const char *path);

/* Whether executing what is open, or named by O_PATH, gives rights: set-uid, set-gid, file
   capabilities. */
bool image_has_rights(int file);

/* Adds a line to `files`: what was done, the path, and the image (below images/) or the reason.
   What would end a field or the line becomes '?'. */
void recorded_image_note(const struct recording *recording, const char *what, const char *path,
                         const char *rest);

/*
 * Makes images/PATH of the copy in the cache, which is open for reading: what is executed and what
 * the grinder finds. Returns where it is below the recording's folder, to be freed, or null with
 * errno. A hard link, or where there can be none a copy: the name that is bound must stay, since a
 * mapped file whose name is gone has no path. If PATH was another file before, as of a program that
 * was built anew, it is images/PATH~2 and so on. PATH is absolute, without "." and "..": else
 * EINVAL.
 */
char *recorded_image_keep(const struct recording *recording, const char *path, int copy);

/*
 * What is bound is what is open, once it has been seen to be the copy: the recording may lie in a
 * folder of another user, who can put something else in its place at any time. image: as
 * recorded_image_keep returns it. Opened with O_PATH; -1 with errno, ESTALE if it is another file.
 */
int recorded_image_open(const struct recording *recording, const char *image, int copy,
                        struct stat *status);

#endif
