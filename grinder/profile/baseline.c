#include "grinder/profile/baseline.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/memory.h"
#include "support/regular_file.h"

enum { MODULE, CODE, CALLS, INSTRUCTIONS, NAME, COLUMNS };

static const char *const expected[COLUMNS] = {
    [MODULE] = "a module's name",
    [CODE] = "a hash of 16 digits, or -",
    [CALLS] = "a number of calls",
    [INSTRUCTIONS] = "a number of instructions, or -",
};

struct reading {
    const char *path;
    unsigned line;
    char *text; /* of the line, cut into cells */
    char *cells[COLUMNS];
    char *module; /* of the line before */
    uint32_t image;
    struct part *part;
    struct images *images;
    bool counts_instructions;
};

struct row {
    uint64_t code, calls, instructions;
};

bool baseline_is(const char *path)
{
    char start[sizeof(BASELINE_FIRST_LINE) - 1 - 1]; /* without the version */
    int file = regular_file_open(path);
    bool is = file >= 0 && read(file, start, sizeof(start)) == sizeof(start) &&
              !memcmp(start, BASELINE_FIRST_LINE, sizeof(start));

    if (file >= 0)
        close(file);
    return is;
}

__attribute__((format(printf, 3, 4))) static bool
refuse(const struct reading *reading, struct failure *failure, const char *format, ...)
{
    char *place = memory_print("%s:%u", reading->path, reading->line), text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fail(failure, place, "%s", text);
    free(place);
    return false;
}

/* The name may be missing. */
static void split(struct reading *reading)
{
    char *rest = reading->text;

    rest[strcspn(rest, "\r\n")] = 0;
    for (int i = 0; i < COLUMNS; i++)
        reading->cells[i] = i < NAME ? strsep(&rest, "\t") : rest;
}

static bool number(const char *text, int base, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, base);
    return strchr("0123456789abcdef", *text) && end != text && !*end && !errno;
}

static bool is_unknown(const char *cell)
{
    return !strcmp(cell, "-");
}

/* The column that makes no sense; COLUMNS if all do. */
static int read_row(const struct reading *reading, struct row *row)
{
    char *const *cells = reading->cells;

    *row = (struct row){0};
    if (!cells[MODULE] || !*cells[MODULE])
        return MODULE;
    if (!cells[CODE] || (!is_unknown(cells[CODE]) &&
                         (strlen(cells[CODE]) != 16 || !number(cells[CODE], 16, &row->code))))
        return CODE;
    if (!cells[CALLS] || !number(cells[CALLS], 10, &row->calls))
        return CALLS;
    if (!cells[INSTRUCTIONS] ||
        (!is_unknown(cells[INSTRUCTIONS]) && !number(cells[INSTRUCTIONS], 10, &row->instructions)))
        return INSTRUCTIONS;
    return COLUMNS;
}

static void add(struct reading *reading, const struct row *row)
{
    const char *name = reading->cells[NAME];
    struct costs *costs;
    uint32_t index;

    if (!reading->module || strcmp(reading->module, reading->cells[MODULE]) != 0) {
        free(reading->module);
        reading->module = memory_copy_utf8(reading->cells[MODULE]);
        reading->image = images_add_listed(reading->images, reading->module);
    }
    index = images_list(reading->images, reading->image, row->code, name && *name ? name : NULL);
    if (!is_unknown(reading->cells[INSTRUCTIONS]))
        reading->counts_instructions = true;
    if (!row->calls && !row->instructions)
        return;
    costs = cost_table_at(&reading->part->functions,
                          images_function(reading->images, reading->image, index), 0);
    costs->calls += row->calls;
    costs->self_instructions += row->instructions;
    reading->part->calls += row->calls;
    reading->part->instructions += row->instructions;
}

static bool read_line(struct reading *reading, struct failure *failure)
{
    const char *wanted = reading->line == 1 ? BASELINE_FIRST_LINE : BASELINE_HEADINGS;
    struct row row;
    int column;

    if (reading->line <= 2) {
        reading->text[strcspn(reading->text, "\r\n")] = 0;
        return !strcmp(reading->text, wanted) ||
               refuse(reading, failure,
                      "expected %s, found '%.60s'; write it anew with --output-format=baseline",
                      reading->line == 1 ? "a baseline of version 1" : "its headings",
                      reading->text);
    }
    split(reading);
    column = read_row(reading, &row);
    if (column < COLUMNS)
        return refuse(reading, failure, "expected %s%s in column %d, found %s%.60s%s",
                      expected[column], strchr(expected[column], ',') ? "," : "", column + 1,
                      reading->cells[column] ? "'" : "",
                      reading->cells[column] ? reading->cells[column] : "none",
                      reading->cells[column] ? "'" : "");
    add(reading, &row);
    return true;
}

static bool read_lines(struct reading *reading, FILE *stream, struct failure *failure)
{
    size_t room = 0;
    bool is_read = true;

    while (is_read && getline(&reading->text, &room, stream) >= 0) {
        reading->line++;
        is_read = read_line(reading, failure);
    }
    if (is_read && ferror(stream))
        is_read = fail(failure, reading->path, "cannot be read: %s", strerror(errno));
    if (is_read && reading->line < 3) {
        reading->line++;
        is_read = refuse(reading, failure, "expected a function, found the end");
    }
    free(reading->text);
    free(reading->module);
    return is_read;
}

bool baseline_read(struct profile *profile, const char *path, struct images *images,
                   struct failure *failure)
{
    struct reading reading = {.path = path, .images = images};
    int file = regular_file_open(path);
    FILE *stream = file < 0 ? NULL : fdopen(file, "r");
    bool is_read;

    if (!stream)
        return fail(failure, path, "%s", regular_file_error());
    reading.part = profile_add_listed(profile, path);
    is_read = read_lines(&reading, stream, failure);
    fclose(stream);
    if (reading.counts_instructions)
        profile->counted = path;
    else
        profile->uncounted = path;
    return is_read;
}
