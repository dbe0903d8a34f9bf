/* The grinder's command line. */
#ifndef UMBRA_GRINDER_OPTIONS_H
#define UMBRA_GRINDER_OPTIONS_H

#include <stddef.h>

struct mode;

struct options {
    const struct mode *mode;
    char *output;      /* null: the mode's default */
    int merged;        /* all threads are one part */
    int split;         /* a file a part */
    int top;           /* functions in the summary */
    char **debug_dirs; /* ends with null */
    char **path_maps;  /* FROM=TO; ends with null */
    char **traces;     /* ends with null; at least one */
};

/* Reads the command line. If there is nothing to be done after that (--help, wrong usage), ends
   the program with 0 or 2. */
void options_read(struct options *options, int argc, const char **argv);
void options_free(struct options *options);

#endif
