#include "hooks/linux/maps.h"

#include <fcntl.h>

#include "hooks/memory.h"
#include "thunkstash/linux/syscalls.h"

/* A zero-terminated line without its newline, null at the end. */
static char *next_line(struct maps_reader *reader)
{
    for (;;) {
        for (uint32_t i = reader->at; i < reader->filled; i++) {
            if (reader->buffer[i] == '\n') {
                char *line = reader->buffer + reader->at;

                reader->buffer[i] = 0;
                reader->at = i + 1;
                return line;
            }
        }
        for (uint32_t i = reader->at; i < reader->filled; i++)
            reader->buffer[i - reader->at] = reader->buffer[i];
        reader->filled -= reader->at;
        reader->at = 0;

        long got = SYSCALL3(read, reader->file, reader->buffer + reader->filled,
                            MAPS_BUFFER - reader->filled);
        if (got <= 0)
            return NULL;
        reader->filled += (uint32_t)got;
    }
}

static uint64_t parse_hex(const char **text)
{
    uint64_t value = 0;

    for (;; (*text)++) {
        char c = **text;

        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return value;
    }
}

static const char *skip_field(const char *text)
{
    while (*text && *text != ' ')
        text++;
    while (*text == ' ')
        text++;
    return text;
}

/* start-end perms offset device inode path */
static struct mapping parse_line(const char *line)
{
    struct mapping mapping;

    mapping.start = parse_hex(&line);
    line++;
    mapping.end = parse_hex(&line);
    line = skip_field(line);
    memcpy(mapping.protection, line, 4);
    line = skip_field(line);
    mapping.offset = parse_hex(&line);
    line = skip_field(line);
    line = skip_field(line);
    mapping.path = skip_field(line);
    return mapping;
}

bool maps_each_with(struct maps_reader *reader, bool (*visit)(const struct mapping *, void *),
                    void *with)
{
    char *line;

    reader->at = reader->filled = 0;
    reader->file = SYSCALL4(openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (syscall_failed(reader->file))
        return false;
    while ((line = next_line(reader))) {
        struct mapping mapping = parse_line(line);

        if (!visit(&mapping, with))
            break;
    }
    SYSCALL1(close, reader->file);
    return true;
}

bool maps_each(bool (*visit)(const struct mapping *, void *), void *with)
{
    static struct maps_reader reader;

    return maps_each_with(&reader, visit, with);
}
