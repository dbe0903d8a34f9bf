/*
 * A regular file of which pieces are copied out with pread, each checked against its size: a file
 * that changes or shrinks meanwhile is no danger. Or one that is in memory, for readers of either.
 *
 * Its path is often one that a trace or a module names, so it may be anything: see
 * support/regular_file.h.
 */
#ifndef UMBRA_SUPPORT_BOUNDED_FILE_H
#define UMBRA_SUPPORT_BOUNDED_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "support/failure.h"

struct bounded_file {
    int fd; /* -1 when closed */
    uint64_t size;
    const uint8_t *bytes; /* of one in memory, borrowed; else null */
};

/* False: nothing is to be closed, and the text is without the path. */
bool bounded_file_open(struct bounded_file *file, const char *path, struct failure *failure);
void bounded_file_close(struct bounded_file *file);

/* Opens the file that name, a descriptor opened with O_PATH at path, stands for; name stays open.
   False: as bounded_file_open. */
bool bounded_file_take(struct bounded_file *file, int name, const char *path,
                       struct failure *failure);

/* One in memory: need not be closed. The bytes may change, but stay. */
struct bounded_file bounded_file_of(const void *bytes, uint64_t size);

/* Copies size bytes at offset to bytes. 0, or -1 if they are not in the file. */
int bounded_file_read(const struct bounded_file *file, void *bytes, uint64_t size, uint64_t offset);

/* A copy of size bytes at offset, to be freed, with a zero behind them; null if they are not in the
   file. */
void *bounded_file_copy(const struct bounded_file *file, uint64_t offset, uint64_t size);

#endif
