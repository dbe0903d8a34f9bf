#include "grinder/views/process_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/views/fit.h"
#include "support/memory.h"
#include "support/utf8.h"

#define FIGURE_COLUMNS 46 /* of a line, and the mark of a cut; the rest is the command's */
#define FOLDED_COLUMNS 76 /* of a line that tells of what is folded */
#define LEAST_COMMAND  8  /* columns */
#define MOST_DEPTH     8  /* that is shown by blanks */
#define MOST_PROGRAMS  10

static void write_seconds(FILE *stream, uint64_t ns)
{
    if (ns)
        fprintf(stream, "%10.3f ", (double)ns / 1e9);
    else
        fprintf(stream, "%10s ", "-");
}

/* Writes as much of it as fits. */
static void write_cut(FILE *stream, const char *text, size_t columns)
{
    for (; *text && columns; columns--)
        utf8_write(stream, utf8_next(&text));
    if (*text)
        fputs("…", stream);
}

/* The last part of a path that ends there, as far as it is one. */
static const char *last_part(const char *begin, const char *end)
{
    const char *part = begin;

    for (const char *at = begin; at + 1 < end; at++)
        if (*at == '/')
            part = at + 1;
    return part;
}

/* Shortens a command that does not fit to its program and its arguments without options, which are
   what tells it from others of the program; paths to their last parts. */
static char *shorten(const char *command)
{
    char *shorter = memory_zeroed(strlen(command) + 1, 1), *end = shorter;

    for (const char *word = command; *word;) {
        const char *behind = word + strcspn(word, " ");
        const char *part = last_part(word, behind);
        if (word == command || *word != '-') {
            if (end != shorter)
                *end++ = ' ';
            end = mempcpy(end, part, (size_t)(behind - part));
        }
        word = behind + strspn(behind, " ");
    }
    return shorter;
}

static void write_command(FILE *stream, const char *command, size_t columns)
{
    char *shorter;

    if (fit_columns(command) <= columns) {
        write_cut(stream, command, columns);
        return;
    }
    shorter = shorten(command);
    write_cut(stream, shorter, columns);
    free(shorter);
}

static void write_row(FILE *stream, const struct process_row *row, uint32_t shown, size_t columns)
{
    const struct listed_process *process = &row->process;
    size_t room = columns - FIGURE_COLUMNS;
    size_t most = (room - LEAST_COMMAND) / 2 < MOST_DEPTH ? (room - LEAST_COMMAND) / 2 : MOST_DEPTH;
    size_t depth = row->depth < most ? row->depth : most;
    bool has_wall = !row->folded && process->end_ns > process->begin_ns;

    write_seconds(stream, has_wall ? process->end_ns - process->begin_ns : 0);
    write_seconds(stream, process->cpu_ns);
    fprintf(stream, "%13" PRIu64 " ", process->calls);
    if (row->folded) {
        fprintf(stream,
                columns < FOLDED_COLUMNS ? " %zu more, each <1%%\n"
                                         : "         %zu more, each less than 1%%\n",
                row->folded);
        return;
    }
    fprintf(stream, "%7" PRIu32 "%s %*s", process->pid, process->pid == shown ? "*" : " ",
            (int)(2 * depth), "");
    write_command(stream, process->command, room - 2 * depth);
    putc('\n', stream);
}

/* Only where a program ran more than once. */
static void write_programs(FILE *stream, const struct process_list *list, size_t columns)
{
    size_t count, shown = 0;
    struct process_program *programs = process_list_programs(list, &count);

    if (count < list->count)
        fprintf(stream, "%10s %10s %13s %7s  %s\n", "wall s", "CPU s",
                list->has_calls ? "calls" : "samples", "times", "program");
    for (; count < list->count && shown < count && shown < MOST_PROGRAMS; shown++) {
        const struct process_program *program = &programs[shown];
        write_seconds(stream, program->wall_ns);
        write_seconds(stream, program->cpu_ns);
        fprintf(stream, "%13" PRIu64 " %7zu  ", program->calls, program->count);
        write_cut(stream, program->name, columns - FIGURE_COLUMNS);
        putc('\n', stream);
    }
    if (count < list->count && shown < count)
        fprintf(stream, "%45s%zu more programs\n", "", count - shown);
    if (count < list->count)
        putc('\n', stream);
    free(programs);
}

bool process_tree_write(FILE *stream, struct process_list *list, uint32_t shown, size_t columns,
                        const char *note)
{
    struct process_row *rows;
    size_t count;

    if (list->count < 2)
        return false;
    if (columns < FIGURE_COLUMNS + LEAST_COMMAND)
        columns = FIGURE_COLUMNS + LEAST_COMMAND;
    fprintf(stream, "%zu processes%s\n", list->count, note);
    write_programs(stream, list, columns);
    rows = process_list_rows(list, &count);
    fprintf(stream, "%10s %10s %13s %7s  %s\n", "wall s", "CPU s",
            list->has_calls ? "calls" : "samples", "pid", "command");
    for (size_t i = 0; i < count; i++)
        write_row(stream, &rows[i], shown, columns);
    free(rows);
    return true;
}
