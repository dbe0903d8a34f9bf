/* A whole file in memory, privately: what is written to it never reaches the file. */
#ifndef UMBRA_REWRITER_INPUT_FILE_H
#define UMBRA_REWRITER_INPUT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "support/failure.h"

/* Why one could not be opened; INPUT_UNFIT: for what it is. */
enum input_problem { INPUT_UNFIT, INPUT_UNREADABLE, INPUT_TOO_LARGE };

struct input_file {
    const char *path; /* borrowed */
    uint8_t *bytes;
    size_t size;
    struct stat status;
    unsigned rights; /* that it lends: rewriter/base/rights.h */
    enum input_problem problem;
};

/* A path may come from a hostile file: nothing but a regular file is opened. */
bool input_file_open(struct input_file *file, const char *path, struct failure *failure);
/* What is open already, and stays it; `path` is what it is called. */
bool input_file_take(struct input_file *file, const char *path, int descriptor,
                     struct failure *failure);
void input_file_close(struct input_file *file);

#endif
