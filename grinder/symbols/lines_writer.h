/* The records of lines.h, as the child writes them. */
#ifndef UMBRA_GRINDER_LINES_WRITER_H
#define UMBRA_GRINDER_LINES_WRITER_H

#include "grinder/base/pair_index.h"
#include "grinder/symbols/lines.h"

/* All zero but for the pipe to begin with. */
struct lines_writer {
    int pipe;
    /* (hash, length) of names that were written; numbers are one less than the records'. */
    struct pair_index files, functions;
    size_t text; /* what counts to LINES_MAX_TEXT */
    uint32_t inlined_count;
    unsigned char bytes[1 << 15];
    size_t filled;
};

/* The number of a name; one that is new is written. 0 if it is empty or there is no more room. */
uint32_t lines_writer_file(struct lines_writer *writer, const char *name);
/* The same of a function, by its symbol. */
uint32_t lines_writer_function(struct lines_writer *writer, const char *symbol);

/* kind: LINES_LINE or LINES_SPOT. */
void lines_writer_line(struct lines_writer *writer, int kind, size_t place, struct line line);

/* The number of an inlined call that is new; 0 if there is no more room. */
uint32_t lines_writer_inlined(struct lines_writer *writer, uint32_t outer, uint32_t name,
                              struct line call);
void lines_writer_innermost(struct lines_writer *writer, size_t place, uint32_t inlined);

void lines_writer_done(struct lines_writer *writer);

/* Ends the process if the pipe fails. */
void lines_writer_flush(struct lines_writer *writer);

#endif
