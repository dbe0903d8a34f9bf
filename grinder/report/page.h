/* Where the parts of a report go: one file, or a folder with a file for each chunk. */
#ifndef UMBRA_GRINDER_REPORT_PAGE_H
#define UMBRA_GRINDER_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "grinder/base/output.h"
#include "support/failure.h"

#define PAGE_PATH_SIZE 4200

/* What a single file holds of sources and instructions; a browser has to read it all. */
#define PAGE_TEXT_LIMIT (64u << 20)

/* What a folder holds: a module may name one large file by any number of paths. */
#define PAGE_FOLDER_LIMIT (1u << 30)

struct page {
    const char *path;
    bool folder;
    struct output output; /* of the single file, or of the folder's file being written */
    char file[PAGE_PATH_SIZE];
    uint64_t text; /* bytes of chunks written so far */
    bool failed;   /* to write a chunk; nothing more is written then */
    struct failure failure; /* why */
};

/* Opens what comes before the data. False: there is nothing to end. */
bool page_begin(struct page *page, const char *path, bool folder, struct failure *failure);

/* The stream for a chunk's JSON, null if it cannot be written (page_end says why) or, where text is
   limited, has no room. Ended by page_end_chunk. */
FILE *page_begin_chunk(struct page *page, const char *name);
void page_end_chunk(struct page *page);
bool page_has_room(const struct page *page, uint64_t size);

/* False: something was not written, and of a single file nothing is left behind. */
bool page_end(struct page *page, struct failure *failure);

/* A JSON string of length bytes that may stand in a script element: valid UTF-8, without '<'. */
void page_write_string(FILE *stream, const char *text, size_t length);
void page_write_text(FILE *stream, const char *text);

#endif
