/* The source files that a profile mentions: each path once, whichever image names it. */
#ifndef UMBRA_GRINDER_REPORT_FILES_H
#define UMBRA_GRINDER_REPORT_FILES_H

#include <stdbool.h>

#include "grinder/base/pair_index.h"
#include "grinder/report/page.h"
#include "grinder/report/report.h"
#include "grinder/report/source_file.h"
#include "support/failure.h"

enum report_file_state {
    FILE_MISSING,  /* there is none to read */
    FILE_READ,     /* its text is in a chunk */
    FILE_NO_ROOM,  /* the page is full */
    FILE_CHANGED,  /* read, and younger than the recording */
    FILE_WITHHELD, /* it may not be shown: source_file.h */
};

struct report_file {
    const char *path; /* of the line table */
    enum trace_system system;
    bool is_shown; /* functions begin in it, or samples met its lines */
    enum report_file_state state;
    char *real; /* where it lies here, if its text is in a chunk or withheld; else null */
};

struct report_files {
    struct report_file *files; /* [0] is none */
    size_t count, room;
    struct pair_index paths; /* both halves of the path's hash */
    uint32_t *of_place;      /* by struct place's file_number */
    struct source_roots roots;
};

/* False: nothing is to be freed. */
bool report_files_begin(struct report_files *files, const struct report *report,
                        struct failure *failure);
void report_files_free(struct report_files *files);

/* Writes the text of all files that are shown: chunk sN for file N, one string. */
void report_files_write(struct report_files *files, const struct report *report, struct page *page);

/* Says which files' text the page at path holds, and which it might have held. */
void report_files_say(const struct report_files *files, const struct report *report,
                      const char *path);

/* The file a function begins in; 0 if that is not known. */
uint32_t report_file_of(const struct report_files *files, const struct report *report,
                        uint32_t function);

/* The file of that path in line tables; 0 if there is none. */
uint32_t report_file_named(const struct report_files *files, const char *path);

#endif
