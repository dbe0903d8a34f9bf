/*
 * A file that appears whole or not at all: written beside its place under another name, hidden
 * so that KCachegrind, which loads NAME* with NAME, does not pick it up, and renamed at the end.
 * A signal that ends the grinder removes it. "-" is standard output; devices and pipes are written
 * as they are.
 */
#ifndef UMBRA_GRINDER_OUTPUT_H
#define UMBRA_GRINDER_OUTPUT_H

#include <stdio.h>

struct output {
    const char *path; /* borrowed */
    FILE *stream;
    char *temporary; /* null if the file is written in place */
};

/* 0, or -1 after a message. */
int output_open(struct output *output, const char *path);

/* Puts the file in its place. 0, or -1 after a message, with nothing left behind. */
int output_commit(struct output *output);

#endif
