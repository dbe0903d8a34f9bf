/* For tests: what is written to a stream of this process meanwhile. */
#ifndef UMBRA_REWRITER_SAID_H
#define UMBRA_REWRITER_SAID_H

#include <stdio.h>
#include <unistd.h>

#define SAID_SIZE 4096

struct said {
    FILE *stream, *file;
    int descriptor; /* of what the stream writes to otherwise */
    char text[SAID_SIZE];
};

/* Text of it is what was written until said_end, as far as it fits. False if it cannot be caught. */
static inline int said_begin(struct said *said, FILE *stream)
{
    fflush(stream);
    said->stream = stream;
    said->file = tmpfile();
    said->descriptor = dup(fileno(stream));
    return said->file && said->descriptor >= 0 && dup2(fileno(said->file), fileno(stream)) >= 0;
}

static inline const char *said_end(struct said *said)
{
    size_t size;

    fflush(said->stream);
    dup2(said->descriptor, fileno(said->stream));
    close(said->descriptor);
    rewind(said->file);
    size = fread(said->text, 1, sizeof(said->text) - 1, said->file);
    said->text[size] = 0;
    fclose(said->file);
    return said->text;
}

#endif
