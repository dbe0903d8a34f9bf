#include "grinder/profile/baseline.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/profile/baseline_rows.h"
#include "support/memory.h"
#include "support/regular_file.h"

enum { MODULE, CODE, CALLS, INSTRUCTIONS, NAME, COLUMNS };
enum { BUILD, BUILT_MODULE, BUILD_COLUMNS };
enum { DEPTH, CONTEXT_CALLS, CONTEXT_INSTRUCTIONS, FUNCTION, CONTEXT_COLUMNS };

static const char *const expected[COLUMNS] = {
    [MODULE] = "a module's name",
    [CODE] = "a hash of 16 digits, or -",
    [CALLS] = "a number of calls",
    [INSTRUCTIONS] = "a number of instructions, or -",
};

static const char *const expected_of_builds[BUILD_COLUMNS] = {
    [BUILD] = "a hash of 16 digits",
    [BUILT_MODULE] = "the name of a module above",
};

static const char *const expected_of_contexts[CONTEXT_COLUMNS] = {
    [DEPTH] = "a depth, at most one more than in the line before",
    [CONTEXT_CALLS] = "a number of calls",
    [CONTEXT_INSTRUCTIONS] = "a number of instructions, or -",
    [FUNCTION] = "the name or the code of a function above, or -",
};

#define WRITE_ANEW "; write it anew with --output-format=baseline"

/* A function's. */
struct place {
    uint32_t image, index;
};

enum section { FUNCTIONS, BUILDS, CONTEXTS };

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
    unsigned version;
    struct baseline_rows rows;
    struct place *places; /* by row */
    size_t place_room;
    size_t first_image; /* of its modules */
    enum section section;
    uint64_t depth;                   /* of the context of the line before */
    uint32_t stacks[STACK_DEPTH + 2]; /* by depth */
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

/* The last column takes what is left; the name may be missing. */
static void split(struct reading *reading, int columns)
{
    char *rest = reading->text;

    for (int i = 0; i < columns; i++)
        reading->cells[i] = i < columns - 1 ? strsep(&rest, "\t") : rest;
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

static void add_place(struct reading *reading, uint64_t code, const char *name)
{
    uint32_t index = images_list(reading->images, reading->image, code, name);

    reading->places = memory_grow(reading->places, reading->rows.count, &reading->place_room,
                                  sizeof(*reading->places));
    reading->places[reading->rows.count] = (struct place){reading->image, index};
    baseline_rows_add(&reading->rows, name, code);
}

/* The number of a row's function. */
static uint32_t function_of(const struct reading *reading, uint32_t row)
{
    return images_function(reading->images, reading->places[row].image, reading->places[row].index);
}

static void add(struct reading *reading, const struct row *row)
{
    const char *name = reading->cells[NAME];
    struct costs *costs;

    if (!reading->module || strcmp(reading->module, reading->cells[MODULE]) != 0) {
        free(reading->module);
        reading->module = memory_copy_utf8(reading->cells[MODULE]);
        reading->image = images_add_listed(reading->images, reading->module);
    }
    add_place(reading, row->code, name && *name ? name : NULL);
    if (!is_unknown(reading->cells[INSTRUCTIONS]))
        reading->counts_instructions = true;
    if (!row->calls && !row->instructions)
        return;
    costs = cost_table_at(&reading->part->functions,
                          function_of(reading, (uint32_t)reading->rows.count - 1), 0);
    costs->calls += row->calls;
    costs->self_instructions += row->instructions;
    reading->part->calls += row->calls;
    reading->part->instructions += row->instructions;
}

/* The column that makes no sense; BUILD_COLUMNS if all do. */
static int add_build(struct reading *reading)
{
    const char *build = reading->cells[BUILD], *module = reading->cells[BUILT_MODULE];
    uint64_t hash;

    if (!build || strlen(build) != 16 || !number(build, 16, &hash))
        return BUILD;
    for (size_t i = reading->first_image; module && i < reading->images->count; i++) {
        struct image *image = &reading->images->images[i];
        if (strcmp(image->path, module) != 0)
            continue;
        image->original_hash = hash;
        return BUILD_COLUMNS;
    }
    return BUILT_MODULE;
}

/* The column that makes no sense; CONTEXT_COLUMNS if all do. function: 0 is STACK_CUT. */
static int read_context(struct reading *reading, struct stack_cost *cost, uint64_t *depth,
                        uint32_t *function)
{
    char *const *cells = reading->cells;
    uint32_t row;

    if (!cells[DEPTH] || !number(cells[DEPTH], 10, depth) || !*depth ||
        *depth > reading->depth + 1 || *depth > STACK_DEPTH + 1)
        return DEPTH;
    if (!cells[CONTEXT_CALLS] || !number(cells[CONTEXT_CALLS], 10, &cost->calls))
        return CONTEXT_CALLS;
    if (!cells[CONTEXT_INSTRUCTIONS] ||
        (!is_unknown(cells[CONTEXT_INSTRUCTIONS]) &&
         !number(cells[CONTEXT_INSTRUCTIONS], 10, &cost->instructions)))
        return CONTEXT_INSTRUCTIONS;
    if (!cells[FUNCTION] || (!is_unknown(cells[FUNCTION]) &&
                             !baseline_rows_find(&reading->rows, cells[FUNCTION], &row)))
        return FUNCTION;
    *function = is_unknown(cells[FUNCTION]) ? STACK_CUT : function_of(reading, row);
    return CONTEXT_COLUMNS;
}

static int add_context(struct reading *reading)
{
    struct stack_tree *stacks = &reading->part->stacks;
    struct stack_cost cost = {0};
    uint32_t function = 0;
    uint64_t depth = 0;
    int column = read_context(reading, &cost, &depth, &function);

    if (column < CONTEXT_COLUMNS)
        return column;
    if (function) /* it may have no figures of its own */
        cost_table_at(&reading->part->functions, function, 0);
    reading->depth = depth;
    reading->stacks[depth] = stacks_push(stacks, reading->stacks[depth - 1], function);
    stack_cost_add(&stacks->costs[reading->stacks[depth]], &cost);
    return column;
}

static bool refuse_column(const struct reading *reading, struct failure *failure,
                          const char *wanted, int column)
{
    const char *found = reading->cells[column];

    return refuse(reading, failure, "expected %s%s in column %d, found %s%.60s%s", wanted,
                  strchr(wanted, ',') ? "," : "", column + 1, found ? "'" : "",
                  found ? found : "none", found ? "'" : "");
}

static bool read_heading(struct reading *reading, struct failure *failure)
{
    reading->text[strcspn(reading->text, "\r\n")] = 0;
    if (reading->line == 2)
        return !strcmp(reading->text, BASELINE_HEADINGS) ||
               refuse(reading, failure, "expected its headings, found '%.60s'" WRITE_ANEW,
                      reading->text);
    reading->version = !strcmp(reading->text, BASELINE_FIRST_LINE)     ? 2
                       : !strcmp(reading->text, BASELINE_FIRST_LINE_1) ? 1
                                                                       : 0;
    return reading->version ||
           refuse(reading, failure,
                  "expected a baseline of version 1 or 2, found '%.60s'" WRITE_ANEW, reading->text);
}

/* Whether the line is headings. */
static bool begin_section(struct reading *reading)
{
    if (reading->version < 2 || !reading->rows.count)
        return false;
    if (reading->section < BUILDS && !strcmp(reading->text, BASELINE_BUILDS))
        reading->section = BUILDS;
    else if (reading->section < CONTEXTS && !strcmp(reading->text, BASELINE_CONTEXTS))
        reading->section = CONTEXTS;
    else
        return false;
    return true;
}

static bool read_line(struct reading *reading, struct failure *failure)
{
    static const int column_counts[] = {
        [FUNCTIONS] = COLUMNS, [BUILDS] = BUILD_COLUMNS, [CONTEXTS] = CONTEXT_COLUMNS};
    struct row row;
    int column;

    if (reading->line <= 2)
        return read_heading(reading, failure);
    reading->text[strcspn(reading->text, "\r\n")] = 0;
    if (begin_section(reading))
        return true;
    split(reading, column_counts[reading->section]);
    switch (reading->section) {
    case BUILDS:
        column = add_build(reading);
        return column == BUILD_COLUMNS ||
               refuse_column(reading, failure, expected_of_builds[column], column);
    case CONTEXTS:
        column = add_context(reading);
        return column == CONTEXT_COLUMNS ||
               refuse_column(reading, failure, expected_of_contexts[column], column);
    default:
        column = read_row(reading, &row);
        if (column < COLUMNS)
            return refuse_column(reading, failure, expected[column], column);
        add(reading, &row);
        return true;
    }
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
    free(reading->places);
    baseline_rows_free(&reading->rows);
    return is_read;
}

bool baseline_read(struct profile *profile, const char *path, struct images *images,
                   struct failure *failure)
{
    struct reading reading = {.path = path, .images = images, .first_image = images->count};
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
