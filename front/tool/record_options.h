/* The command line of umbra record. */
#ifndef UMBRA_FRONT_RECORD_OPTIONS_H
#define UMBRA_FRONT_RECORD_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "front/base/words.h"

struct record_options {
    struct words instrument, service, leave;
    struct words samples; /* of the service, in a second run */
    const char *output;
    bool children, in_place, is_verbose, is_quiet;
    bool is_of_stacks; /* --how=samples: nothing is instrumented */
    bool is_twice;     /* and once more so */
    pid_t pid;         /* of a process that runs already: so, too; 0: there is a program */
    char **program;    /* and its arguments */
};

/* Reads what stands behind the verb, which is arguments[0]. Ends the process with STATUS_USAGE after a message
   that says what is wrong. */
void record_options_read(struct record_options *options, int count, char **arguments);

#endif
