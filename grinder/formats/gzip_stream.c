#include "grinder/formats/gzip_stream.h"

#include <limits.h>
#include <stdlib.h>

#include "support/memory.h"

#define GZIP_WINDOW (15 + 16)    /* the largest window, and gzip's header and trailer */
#define MEMORY      8            /* zlib's default */
#define WANTED      (256u << 10) /* bytes of both, as zconf.h says */

static void empty_buffer(struct gzip_stream *gzip)
{
    fwrite(gzip->buffer, 1, sizeof(gzip->buffer) - gzip->zlib.avail_out, gzip->stream);
    gzip->zlib.next_out = gzip->buffer;
    gzip->zlib.avail_out = sizeof(gzip->buffer);
}

void gzip_stream_begin(struct gzip_stream *gzip, FILE *stream)
{
    gzip->stream = stream;
    gzip->zlib = (z_stream){.next_out = gzip->buffer, .avail_out = sizeof(gzip->buffer)};
    if (deflateInit2(&gzip->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        memory_or_exit(NULL, WANTED);
}

void gzip_stream_write(struct gzip_stream *gzip, const void *bytes, size_t size)
{
    const uint8_t *next = bytes;

    while (size) {
        uInt piece = size < UINT_MAX ? (uInt)size : UINT_MAX;
        gzip->zlib.next_in = (Bytef *)(uintptr_t)next;
        gzip->zlib.avail_in = piece;
        while (gzip->zlib.avail_in) {
            deflate(&gzip->zlib, Z_NO_FLUSH);
            if (!gzip->zlib.avail_out)
                empty_buffer(gzip);
        }
        next += piece;
        size -= piece;
    }
}

void gzip_stream_end(struct gzip_stream *gzip)
{
    while (deflate(&gzip->zlib, Z_FINISH) != Z_STREAM_END)
        empty_buffer(gzip);
    empty_buffer(gzip);
    deflateEnd(&gzip->zlib);
}
