#include "grinder/views/process_tree.h"

#include <inttypes.h>
#include <stdlib.h>

#include "support/utf8.h"

#define FIGURE_COLUMNS 46 /* of a line, and the mark of a cut; the rest is the command's */
#define FOLDED_COLUMNS 76 /* of a line that tells of what is folded */
#define LEAST_COMMAND  8  /* columns */
#define MOST_DEPTH     8  /* that is shown by blanks */

static void write_seconds(FILE *stream, uint64_t ns)
{
    if (ns)
        fprintf(stream, "%10.3f ", (double)ns / 1e9);
    else
        fprintf(stream, "%10s ", "-");
}

/* As much as fits. */
static void write_command(FILE *stream, const char *command, size_t columns)
{
    for (; *command && columns; columns--)
        utf8_write(stream, utf8_next(&command));
    if (*command)
        fputs("…", stream);
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

bool process_tree_write(FILE *stream, struct process_list *list, uint32_t shown, size_t columns,
                        const char *note)
{
    struct process_row *rows;
    size_t count;

    if (list->count < 2)
        return false;
    if (columns < FIGURE_COLUMNS + LEAST_COMMAND)
        columns = FIGURE_COLUMNS + LEAST_COMMAND;
    rows = process_list_rows(list, &count);
    fprintf(stream, "%zu processes%s\n%10s %10s %13s %7s  %s\n", list->count, note, "wall s",
            "CPU s", list->has_calls ? "calls" : "samples", "pid", "command");
    for (size_t i = 0; i < count; i++)
        write_row(stream, &rows[i], shown, columns);
    free(rows);
    return true;
}
