/* Where --bisect's copies are, and the command that is run with them. */
#ifndef UMBRA_REWRITER_BISECT_PLACE_H
#define UMBRA_REWRITER_BISECT_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "support/failure.h"

#define BISECT_HOW_SIZE 64

struct bisect_place {
    const char *image;     /* as it was given */
    char folder[PATH_MAX]; /* in TMPDIR or /tmp */
    char copy[PATH_MAX];   /* in it, of the image's name */
};

/* How the command ended. */
struct bisect_end {
    bool is_success; /* status 0 */
    int status;      /* waitpid's */
};

/* The file of a command, as execvp(3) finds it; to be freed, or null. */
char *bisect_place_find(const char *command);

/* Name of the function at that address of the image; to be freed, or null. */
char *bisect_place_name(const char *image, uint64_t address);

/* Makes the folder. From here on SIGINT, SIGTERM and SIGHUP do not end this process: the next
   bisect_place_run fails. */
bool bisect_place_open(struct bisect_place *place, const char *image, struct failure *failure);
void bisect_place_close(struct bisect_place *place);

/* Puts a copy of the original there. */
bool bisect_place_copy(struct bisect_place *place, const char *image, struct failure *failure);

/* Runs it, without input and output. False if it cannot be run, or a signal has come. */
bool bisect_place_run(const struct bisect_place *place, const char **command,
                      struct bisect_end *end, struct failure *failure);

/* "succeeds", "fails: exit status 3", "fails: signal 11". */
void bisect_end_write(const struct bisect_end *end, char how[BISECT_HOW_SIZE]);

#endif
