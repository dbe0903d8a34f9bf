/* A gzip file, written piece by piece. Errors stay in the stream. */
#ifndef UMBRA_GRINDER_GZIP_STREAM_H
#define UMBRA_GRINDER_GZIP_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

struct gzip_stream {
    FILE *stream;
    z_stream zlib;
    uint8_t buffer[1 << 16]; /* of compressed bytes */
};

void gzip_stream_begin(struct gzip_stream *gzip, FILE *stream);
void gzip_stream_write(struct gzip_stream *gzip, const void *bytes, size_t size);

/* Completes the file; gzip is to be begun again. */
void gzip_stream_end(struct gzip_stream *gzip);

#endif
