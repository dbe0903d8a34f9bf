/*
 * Runs of one program for `umbra bisect`: as it is, and recorded with other options each time.
 *
 *      TMPDIR/umbra-bisect-XXXXXX/     removed when this process ends
 *          NUMBER                      the recording of the run of that number
 *          stdout, stderr, check       what the last run, and its check, wrote
 *          filter, functions           hooked_functions.h
 */
#ifndef UMBRA_FRONT_TRIAL_H
#define UMBRA_FRONT_TRIAL_H

#include <stdbool.h>

#include "front/base/words.h"
#include "front/recording/recording.h"

struct trials {
    char *const *program; /* and its arguments */
    const char *check;    /* a shell command that judges each run; null: its status does */
    struct words options; /* of umbra record, for each recorded run */
    bool is_verbose;      /* shows what the program writes */
    char *folder;
    unsigned count; /* of runs so far */
};

struct trial {
    unsigned number;
    int status;  /* as a shell has it: 128 + N after signal N */
    int checked; /* the check's status; 0 if there is none */
};

/* Makes the folder. A signal that ends this process is handed on to what runs. Ends the process
   with a message if there can be no folder. Once in a process. */
void trials_begin(struct trials *trials);

/* These end the process with a message if the program cannot be run, or not recorded. */
struct trial trial_natively(struct trials *trials);
/* more: options behind those of all runs. Its recording is there until it is forgotten. */
struct trial trial_recorded(struct trials *trials, const struct words *more);

/* To be freed by recording_free. */
void trial_open_recording(const struct trials *trials, const struct trial *trial,
                          struct recording *recording);
/* Removes its recording, if it has one. */
void trial_forget(const struct trials *trials, const struct trial *trial);

/* "exit status 134 (SIGABRT)", "the check's exit status 1"; to be freed. */
char *trial_describe(const struct trials *trials, const struct trial *trial);

#endif
