/* Why a program left a recording of no process. */
#ifndef UMBRA_FRONT_UNRECORDED_H
#define UMBRA_FRONT_UNRECORDED_H

#include "front/recording/recording.h"

/* Notes that the program cannot be run, and why. */
void unrecorded_note(const struct recording *recording, const char *program, const char *why);

/* "PATH: REASON", of the program at that path, or of the interpreter if it is a script; to be
   freed. The recording keeps it, and other verbs show it. */
char *unrecorded_find_why(const struct recording *recording, const char *path);

#endif
