/* Why a program left a recording of no process. */
#ifndef UMBRA_FRONT_UNRECORDED_H
#define UMBRA_FRONT_UNRECORDED_H

#include <stdbool.h>

#include "front/recording/recording.h"

/* Whether the program at that path is one of the kernel's, but not of this processor, or not complete:
   no shell can run it. */
bool unrecorded_is_foreign(const char *path);

/* Says that the program at that path cannot be executed, and why; error: its errno. The recording
   keeps it. */
void unrecorded_tell(const struct recording *recording, const char *program, const char *path,
                     int error);

/* "PATH: REASON", of the program at that path, or of the interpreter if it is a script; to be
   freed. The recording keeps it, and other verbs show it. */
char *unrecorded_find_why(const struct recording *recording, const char *path);

#endif
