#include "grinder/views/process_tree.h"

#include <inttypes.h>
#include <stdlib.h>

#include "support/utf8.h"

#define COMMAND_COLUMNS 38 /* beside the figures, on a line of 80 */
#define MOST_DEPTH      8  /* that is shown by blanks */

static void write_seconds(FILE *stream, uint64_t ns)
{
    if (ns)
        fprintf(stream, "%10.3f ", (double)ns / 1e9);
    else
        fprintf(stream, "%10s ", "-");
}

/* As much as fits. */
static void write_command(FILE *stream, const char *command, unsigned columns)
{
    for (; *command && columns; columns--)
        utf8_write(stream, utf8_next(&command));
    if (*command)
        fputs("…", stream);
}

static void write_row(FILE *stream, const struct process_row *row, uint32_t shown)
{
    const struct listed_process *process = &row->process;
    const unsigned depth = row->depth < MOST_DEPTH ? row->depth : MOST_DEPTH;
    const bool has_wall = !row->folded && process->end_ns > process->begin_ns;

    write_seconds(stream, has_wall ? process->end_ns - process->begin_ns : 0);
    write_seconds(stream, process->cpu_ns);
    fprintf(stream, "%13" PRIu64 " ", process->calls);
    if (row->folded) {
        fprintf(stream, "         %zu more, each less than 1%%\n", row->folded);
        return;
    }
    fprintf(stream, "%7" PRIu32 "%s %*s", process->pid, process->pid == shown ? "*" : " ",
            (int)(2 * depth), "");
    write_command(stream, process->command, COMMAND_COLUMNS - 2 * depth);
    putc('\n', stream);
}

void process_tree_write(FILE *stream, struct process_list *list, uint32_t shown)
{
    struct process_row *rows;
    size_t count;

    if (list->count < 2)
        return;
    rows = process_list_rows(list, &count);
    fprintf(stream, "%zu processes%s\n%10s %10s %13s %7s  %s\n", list->count,
            shown ? "; * is shown below, another with --process=PID|NAME" : "", "wall s", "CPU s",
            "calls", "pid", "command");
    for (size_t i = 0; i < count; i++)
        write_row(stream, &rows[i], shown);
    putc('\n', stream);
    free(rows);
}
