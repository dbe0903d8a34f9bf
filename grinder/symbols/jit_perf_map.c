/*
 * Linux perf's map of code made at run time: tools/perf/Documentation/jit-interface.txt.
 *
 *      START SIZE NAME       in hexadecimal, with or without 0x; the name is the rest of the line
 *
 * Node ends the names of JavaScript functions in "FILE:LINE:COLUMN".
 */
#include "grinder/symbols/jit_perf_map.h"

#include <string.h>

#include "support/memory.h"

/* Reads digits and what separates them from the next field. Null if there are none, or too many. */
static const char *read_hex(const char *at, const char *end, uint64_t *value)
{
    const char *first;

    if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
        at += 2;
    first = at;
    for (*value = 0; at < end && at - first <= 16; at++) {
        const char *digits = "0123456789abcdef", *digit;
        char c = *at >= 'A' && *at <= 'F' ? (char)(*at | 0x20) : *at;
        digit = c ? strchr(digits, c) : NULL;
        if (!digit)
            break;
        *value = *value << 4 | (uint64_t)(digit - digits);
    }
    if (at == first || at - first > 16 || at == end || *at != ' ')
        return NULL;
    while (at < end && *at == ' ')
        at++;
    return at;
}

/* Digits that end at `end`, with a colon before them: returns where that is, else null. */
static const char *number_before(const char *begin, const char *end, uint32_t *number)
{
    const char *at = end;
    uint64_t value = 0;

    while (at > begin && at[-1] >= '0' && at[-1] <= '9' && end - at < 9)
        at--;
    for (const char *digit = at; digit < end; digit++)
        value = value * 10 + (uint64_t)(*digit - '0');
    *number = (uint32_t)value;
    return at < end && at > begin && at[-1] == ':' ? at - 1 : NULL;
}

static void add_place(struct jit_map *map, size_t code, const char *name, const char *end)
{
    uint32_t column, line;
    const char *at = number_before(name, end, &column), *file;
    struct jit_line *lines;

    at = at ? number_before(name, at, &line) : NULL;
    if (!at)
        return;
    file = memchr(name, ' ', (size_t)(at - name));
    if (!file || file + 1 == at)
        return;
    lines = memory_zeroed(1, sizeof(*lines));
    lines->file = jit_map_file(map, file + 1, (size_t)(at - file - 1));
    lines->line = line;
    map->codes[code].lines = lines;
    map->codes[code].line_count = 1;
}

static void read_line(struct jit_map *map, const char *at, const char *end)
{
    uint64_t start, size;

    at = read_hex(at, end, &start);
    at = at ? read_hex(at, end, &size) : NULL;
    if (!at)
        map->bad++;
    else if (jit_map_add(map, start, size, at, (size_t)(end - at)))
        add_place(map, map->count - 1, at, end);
}

void jit_perf_map_read(struct jit_map *map, const char *text, size_t size)
{
    const char *end = text + size;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline)
            break; /* cut off: the size may be, too */
        if (newline > text)
            read_line(map, text, newline);
        text = newline + 1;
    }
}
