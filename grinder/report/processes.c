#include "grinder/report/processes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "grinder/profile/process_list.h"
#include "grinder/report/page.h"

static void write_numbers(FILE *stream, const char *name, const struct process_row *rows,
                          size_t count, uint64_t (*number)(const struct process_row *row))
{
    fprintf(stream, "\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%" PRIu64, i ? "," : "", number(&rows[i]));
    fputs("],", stream);
}

static uint64_t row_depth(const struct process_row *row)
{
    return row->depth;
}

static uint64_t row_pid(const struct process_row *row)
{
    return row->process.pid;
}

static uint64_t row_wall(const struct process_row *row)
{
    const struct listed_process *process = &row->process;

    return !row->folded && process->end_ns > process->begin_ns ? process->end_ns - process->begin_ns
                                                               : 0;
}

static uint64_t row_cpu(const struct process_row *row)
{
    return row->process.cpu_ns;
}

static uint64_t row_calls(const struct process_row *row)
{
    return row->process.calls;
}

static uint64_t row_folded(const struct process_row *row)
{
    return row->folded;
}

static void write_program_numbers(FILE *stream, const char *name,
                                  const struct process_program *programs, size_t count,
                                  uint64_t (*number)(const struct process_program *program))
{
    fprintf(stream, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%" PRIu64, i ? "," : "", number(&programs[i]));
    putc(']', stream);
}

static uint64_t program_times(const struct process_program *program)
{
    return program->count;
}

static uint64_t program_wall(const struct process_program *program)
{
    return program->wall_ns;
}

static uint64_t program_cpu(const struct process_program *program)
{
    return program->cpu_ns;
}

static uint64_t program_calls(const struct process_program *program)
{
    return program->calls;
}

/* Sums of all processes of a program. */
static void write_programs(FILE *stream, const struct report *report)
{
    size_t count;
    struct process_program *programs = process_list_programs(report->processes, &count);

    fputs("\"programs\":{\"name\":[", stream);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "," : "", stream);
        page_write_text(stream, programs[i].name);
    }
    putc(']', stream);
    write_program_numbers(stream, "times", programs, count, program_times);
    write_program_numbers(stream, "wall", programs, count, program_wall);
    write_program_numbers(stream, "cpu", programs, count, program_cpu);
    write_program_numbers(stream, "calls", programs, count, program_calls);
    fputs("},\n", stream);
    free(programs);
}

/* 0 of what is not known. */
static void write_rows(FILE *stream, const struct report *report)
{
    size_t count;
    struct process_row *rows = process_list_rows(report->processes, &count);

    fputs("\"tree\":{", stream);
    write_numbers(stream, "depth", rows, count, row_depth);
    write_numbers(stream, "pid", rows, count, row_pid);
    write_numbers(stream, "wall", rows, count, row_wall);
    write_numbers(stream, "cpu", rows, count, row_cpu);
    write_numbers(stream, "calls", rows, count, row_calls);
    write_numbers(stream, "folded", rows, count, row_folded);
    fprintf(stream, "\"shown\":%" PRIu32 ",\"command\":[", report->shown);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "," : "", stream);
        page_write_text(stream, rows[i].folded ? "" : rows[i].process.command);
    }
    fputs("]},\n", stream);
    free(rows);
}

void processes_write(FILE *stream, const struct report *report)
{
    write_rows(stream, report);
    write_programs(stream, report);
}
