/* Reads NAME.stacks (trace/stacks_format.h), which may say anything. */
#ifndef UMBRA_GRINDER_STACKS_FILE_H
#define UMBRA_GRINDER_STACKS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/base/pair_index.h"
#include "support/failure.h"
#include "trace/stacks_format.h"

struct stacks_mapping {
    uint64_t address, length, offset;
    uint8_t build_id[20];
    uint32_t build_id_size;
    const char *path; /* in the file's bytes */
};

/* What a thread's stack was at a sample. */
struct stacks_dump {
    uint32_t tid;
    uint64_t address;
    uint64_t kept; /* from here on it is what it was at the thread's last sample; or its end */
    size_t size, room;
    uint8_t *bytes;
};

struct stacks_file {
    unsigned char *bytes;
    size_t size; /* up to where the records are whole */
    struct stacks_header header;
    size_t next; /* of the record that comes next */
    /* What all threads that have been seen so far have. */
    struct pair_index tids; /* (tid, 0): place in dumps */
    struct stacks_dump **dumps;
    size_t dump_count, dump_room;
};

/* False: nothing is to be closed, and the text is without the path. */
bool stacks_file_open(struct stacks_file *file, const char *path, struct failure *failure);
void stacks_file_close(struct stacks_file *file);

/* The next record: what kind it is of, with mapping, or sample and dump, filled in. 0: there are no more.
   What they lead to is valid up to the next call. */
int stacks_file_next(struct stacks_file *file, struct stacks_mapping *mapping,
                     struct stacks_sample *sample, const struct stacks_dump **dump);

/* From the first record again. */
void stacks_file_rewind(struct stacks_file *file);

#endif
