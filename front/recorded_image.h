/* Instrumented files of a recording: which become some, and how the recording keeps them. */
#ifndef UMBRA_FRONT_RECORDED_IMAGE_H
#define UMBRA_FRONT_RECORDED_IMAGE_H

#include <stdbool.h>

#include "front/recording.h"

/* The agent, and dynamic linkers: no word is said of them. */
bool image_is_never_instrumented(const char *path);

/* Whether executing what is open, or named by O_PATH, gives rights: set-uid, set-gid, file
   capabilities. */
bool image_has_rights(int file);

/* Adds a line to `files`; reason may be null. */
void recorded_image_note(const struct recording *recording, const char *what, const char *path,
                         const char *reason);

/* Makes images/PATH, by which the grinder finds what took PATH's place. Its path, to be freed. */
char *recorded_image_keep(const struct recording *recording, const char *path, const char *copy);

#endif
