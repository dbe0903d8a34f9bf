/*
 * A recording: a folder that `umbra record` leaves and the other verbs open.
 *
 *      umbra.data/
 *          recording       first line "umbra recording 1", then lines NAME<tab>VALUE:
 *              command, arguments (the same as a JSON array), began, instance,
 *              meeting (meeting_place.h), pid, status, why (no process was recorded)
 *          traces/         what call_trace_service wrote
 *          times/          what it wrote of a second run, as it is: --twice
 *          images/PATH     the instrumented file that took the place of PATH (recorded_image.h)
 *          files           a line for each program and library that was met:
 *              instrumented<tab>PATH<tab>IMAGE
 *              left<tab>PATH<tab>REASON
 *              confined<tab>PROGRAM<tab>       the first that gave up rights, and executes another
 *
 * It is opened once, and all that is in it is found below that descriptor (front/files/below.h):
 * where others may rename things, its path may lead elsewhere at any time. What it holds may be
 * anybody's: what is no regular file, or too large, is as if it were not there, and lines are shown
 * without control characters.
 */
#ifndef UMBRA_FRONT_RECORDING_H
#define UMBRA_FRONT_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "front/base/words.h"

#define RECORDING_DEFAULT    "umbra.data"
#define RECORDING_TIMES      "times"
#define RECORDING_OLD        ".old" /* behind the name of the one before */
#define RECORDING_FIRST_LINE "umbra recording 1\n"

struct recording {
    char *name;    /* as the user gave it */
    char *folder;  /* absolute: for what is shown, and for other programs to read */
    int directory; /* itself; while it is made, with a lock that its recorders hold */
};

/* Opens one, or ends the process with a message. */
void recording_open(struct recording *recording, const char *name);
void recording_free(struct recording *recording);

/* To be called when this process has other mounts: a file of one of these cannot be linked, nor
   bound, to a place that was opened among the mounts before. If the path leads elsewhere by now,
   the descriptor stays, and nothing can be bound from there. */
void recording_find_again(struct recording *recording);

/* Whether somebody records into it now. */
bool recording_goes_on(const struct recording *recording);

/* Whether there is one in that folder, below a directory that is open or AT_FDCWD. If not, errno is
   EACCES if that cannot be seen for want of rights. */
bool recording_is_in(int directory, const char *folder);

/* A name for the user to see: without slashes at its end, and absolute. To be freed. */
char *recording_name(const char *name);
char *recording_folder(const char *name);

/* A path within, to be freed. */
char *recording_path(const struct recording *recording, const char *name);

/* A path within, to be freed, for this process and those that inherit recording->directory:
   whatever is renamed, it leads there. */
char *recording_own_path(const struct recording *recording, const char *name);

/* Adds a line to `recording`; what would end it becomes '?'. */
void recording_note(const struct recording *recording, const char *name, const char *value);
/* The last value of that name, to be freed; null if there is none. */
char *recording_value(const struct recording *recording, const char *name);

/* Adds --path-map=PATH=IMAGE for each file that was instrumented. */
void recording_add_path_maps(const struct recording *recording, struct words *words);

/* Adds the one for files that will be instrumented while it goes on. What it leads to cannot be
   looked at now: for recordings of this user alone. */
void recording_add_coming_path_map(const struct recording *recording, struct words *words);

/* How many of `files` say that, of different paths. */
size_t recording_count_files(const struct recording *recording, const char *what);

/* Adds the paths of which `files` says that, each once. */
void recording_list_files(const struct recording *recording, const char *what, struct words *paths);

/* Why the file of that path was left alone, or with null the first that was: "PATH: REASON". To be
   freed; null if `files` says nothing of it. */
char *recording_why_left(const struct recording *recording, const char *path);

/* Shows those that were left alone, and why no process was recorded. */
void recording_show_left(const struct recording *recording, FILE *stream);

/* The command and its arguments, as a JSON array of strings; to be freed. Null if nothing says them. */
char *recording_arguments(const struct recording *recording);
void recording_note_arguments(const struct recording *recording, char *const *words);

/* What all its files take on the disk, in bytes, with images that it shares with the cache. */
uint64_t recording_size(const struct recording *recording);

/* Whether there are times of a second run in it. */
bool recording_has_times(const struct recording *recording);

/* How many processes have traces in it: one that replaced itself by exec has several traces, and counts once. */
size_t recording_count_processes(const struct recording *recording);
/* Removes the traces of all processes but that one. */
void recording_keep_process(const struct recording *recording, const char *pid);

#endif
