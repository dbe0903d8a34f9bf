/* A whole file in memory, privately: what is written to it never reaches the file. */
#ifndef UMBRA_REWRITER_INPUT_FILE_H
#define UMBRA_REWRITER_INPUT_FILE_H

#include "rewriter/failure.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct input_file {
    const char *path; /* borrowed */
    uint8_t *bytes;
    size_t size;
    struct stat status;
};

bool input_file_open(struct input_file *file, const char *path, struct failure *failure);
void input_file_close(struct input_file *file);

#endif
