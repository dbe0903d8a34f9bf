/*
 * A recording: a folder that `umbra record` leaves and the other verbs open.
 *
 *      umbra.data/
 *          recording       first line "umbra recording 1", then lines NAME<tab>VALUE:
 *              command, began, instance, pid, status
 *          traces/         what call_trace_service wrote
 *          images/PATH     the instrumented file that took the place of PATH (recorded_image.h)
 *          files           a line for each program and library that was met:
 *              instrumented<tab>PATH<tab>IMAGE
 *              left<tab>PATH<tab>REASON
 */
#ifndef UMBRA_FRONT_RECORDING_H
#define UMBRA_FRONT_RECORDING_H

#include <stdbool.h>
#include <stdio.h>

#include "front/words.h"

#define RECORDING_DEFAULT "umbra.data"
#define RECORDING_OLD     ".old" /* behind the name of the one before */

struct recording {
    char *name;   /* as the user gave it */
    char *folder; /* absolute */
    bool has_earlier;
};

/* Makes one. A recording of that name becomes NAME.old, and that of this name goes when the program
   begins. Anything else there ends the process with a message. */
void recording_make(struct recording *recording, const char *name);

/* Called in the process that becomes the program. */
void recording_begin(const struct recording *recording);
bool recording_has_begun(const struct recording *recording);

/* Removes it; what was there before recording_make is there again. */
void recording_take_back(const struct recording *recording);

/* Opens one, or ends the process with a message. */
void recording_open(struct recording *recording, const char *name);
void recording_free(struct recording *recording);

/* Whether somebody records into it now. */
bool recording_goes_on(const struct recording *recording);

/* Whether there is one in that folder. */
bool recording_is_in(const char *folder);

/* A path within, to be freed. */
char *recording_path(const struct recording *recording, const char *name);

/* Adds a line to `recording`; what would end it becomes '?'. */
void recording_note(const struct recording *recording, const char *name, const char *value);
/* The last value of that name, to be freed; null if there is none. */
char *recording_value(const struct recording *recording, const char *name);

/* Adds --path-map=PATH=IMAGE for each file that was instrumented. */
void recording_add_path_maps(const struct recording *recording, struct words *words);

/* How many of `files` say that, of different paths. */
size_t recording_count_files(const struct recording *recording, const char *what);

/* Shows those that were left alone. */
void recording_show_left(const struct recording *recording, FILE *stream);

/* The traces in it. With pid, those of other processes are removed first. */
size_t recording_count_traces(const struct recording *recording);
void recording_keep_process(const struct recording *recording, const char *pid);

#endif
