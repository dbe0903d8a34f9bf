#include "grinder/symbols/lines_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "grinder/symbols/demangle.h"

void lines_writer_flush(struct lines_writer *writer)
{
    size_t done = 0;

    while (done < writer->filled) {
        ssize_t count = write(writer->pipe, writer->bytes + done, writer->filled - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            _exit(EXIT_FAILURE);
        done += (size_t)count;
    }
    writer->filled = 0;
}

static void put(struct lines_writer *writer, const void *bytes, size_t size)
{
    if (size > sizeof(writer->bytes) - writer->filled)
        lines_writer_flush(writer);
    memcpy(writer->bytes + writer->filled, bytes, size);
    writer->filled += size;
}

static void put_words(struct lines_writer *writer, int kind, const uint32_t *words, size_t count)
{
    unsigned char byte = (unsigned char)kind;

    put(writer, &byte, 1);
    if (count)
        put(writer, words, count * sizeof(*words));
}

static void put_name(struct lines_writer *writer, int kind, const char *name)
{
    uint32_t length = (uint32_t)strnlen(name, LINES_MAX_NAME);

    put_words(writer, kind, &length, 1);
    put(writer, name, length);
    writer->text += lines_name_cost(length);
}

static bool has_room_for_name(const struct lines_writer *writer)
{
    return writer->text + lines_name_cost(LINES_MAX_NAME) <= LINES_MAX_TEXT;
}

uint32_t lines_writer_file(struct lines_writer *writer, const char *name)
{
    size_t length = strnlen(name, LINES_MAX_NAME);
    uint64_t hash = XXH3_64bits(name, length);
    uint32_t number;

    if (!length)
        return 0;
    if (pair_index_find(&writer->files, hash, length, &number))
        return number + 1;
    if (!has_room_for_name(writer))
        return 0;
    put_name(writer, LINES_FILE, name);
    return pair_index_add(&writer->files, hash, length) + 1;
}

uint32_t lines_writer_function(struct lines_writer *writer, const char *symbol)
{
    size_t length = strlen(symbol);
    uint64_t hash = XXH3_64bits(symbol, length);
    uint32_t number;
    char *name;

    if (!length)
        return 0;
    if (pair_index_find(&writer->functions, hash, length, &number))
        return number + 1;
    if (!has_room_for_name(writer))
        return 0;
    name = demangle(symbol);
    number = *name ? pair_index_add(&writer->functions, hash, length) + 1 : 0;
    if (number)
        put_name(writer, LINES_FUNCTION, name);
    free(name);
    return number;
}

void lines_writer_line(struct lines_writer *writer, int kind, size_t place, struct line line)
{
    put_words(writer, kind, (uint32_t[]){(uint32_t)place, line.file, line.line}, 3);
}

uint32_t lines_writer_inlined(struct lines_writer *writer, uint32_t outer, uint32_t name,
                              struct line call)
{
    if (writer->inlined_count >= LINES_MAX_INLINED)
        return 0;
    put_words(writer, LINES_INLINED, (uint32_t[]){outer, name, call.file, call.line}, 4);
    return ++writer->inlined_count;
}

void lines_writer_innermost(struct lines_writer *writer, size_t place, uint32_t inlined)
{
    put_words(writer, LINES_INNERMOST, (uint32_t[]){(uint32_t)place, inlined}, 2);
}

void lines_writer_done(struct lines_writer *writer)
{
    put_words(writer, LINES_DONE, NULL, 0);
    lines_writer_flush(writer);
}
