#include "front/tool/list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/base/say.h"
#include "front/recording/recording.h"
#include "front/tool/options.h"
#include "support/memory.h"
#include "support/utf8.h"

#define LEAST_COLUMNS 20 /* of the names of recordings */

/* What is known of one. */
struct row {
    struct recording recording;
    char *command, *arguments, *began, *status; /* null: nothing says it */
    const char *state;
    size_t processes, images;
};

static void read_row(struct row *row, const char *name)
{
    struct recording *recording = &row->recording;

    recording_open(recording, name);
    row->command = recording_value(recording, "command");
    row->arguments = recording_arguments(recording);
    row->began = recording_value(recording, "began");
    row->status = recording_value(recording, "status");
    row->state = row->status ? "ended" : recording_goes_on(recording) ? "running" : "killed";
    row->processes = recording_count_processes(recording);
    row->images = recording_count_files(recording, "instrumented");
}

static void free_row(struct row *row)
{
    free(row->command);
    free(row->arguments);
    free(row->began);
    free(row->status);
    recording_free(&row->recording);
}

static void print_row(const struct row *row, int columns)
{
    printf("%-*s  %-20s  %9zu  %6zu  %-7s  %s\n", columns, row->recording.name,
           row->began ? row->began : "", row->processes, row->images,
           row->status ? row->status : row->state, row->command ? row->command : "");
}

static void write_text(const char *key, const char *text)
{
    printf("\"%s\":", key);
    if (text)
        utf8_write_json(stdout, text);
    else
        fputs("null", stdout);
}

static bool is_number(const char *text)
{
    return text && *text && strlen(text) < 10 && !text[strspn(text, "0123456789")];
}

static void write_row(const struct row *row)
{
    putchar('{');
    write_text("path", row->recording.folder);
    putchar(',');
    write_text("began", row->began);
    printf(",\"processes\":%zu,\"images\":%zu,", row->processes, row->images);
    write_text("state", row->state);
    printf(",\"status\":%s", is_number(row->status) ? row->status : "null");
    printf(",\"command\":%s", row->arguments ? row->arguments : "null");
    printf(",\"size\":%" PRIu64 "}", recording_size(&row->recording));
}

struct output {
    bool is_json;
    int columns;  /* of the names */
    size_t count; /* of those shown */
};

static void show(struct output *output, const char *name)
{
    struct row row;

    read_row(&row, name);
    if (output->is_json) {
        fputs(output->count ? ",\n" : "", stdout);
        write_row(&row);
    } else {
        if (!output->count)
            printf("%-*s  %-20s  %9s  %6s  %-7s  %s\n", output->columns, "recording", "began",
                   "processes", "images", "status", "command");
        print_row(&row, output->columns);
    }
    output->count++;
    free_row(&row);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void make_room(struct output *output, const char *name)
{
    int columns = (int)strlen(name);

    if (columns > output->columns)
        output->columns = columns;
}

/* Shows the recordings in that folder, or the folder itself if it is one. */
static bool show_all(struct output *output, const char *folder)
{
    struct words names = {0};
    DIR *directory;
    struct dirent *entry;

    if (recording_is_in(AT_FDCWD, folder) || errno == EACCES) {
        show(output, folder);
        return true;
    }
    directory = opendir(folder);
    if (!directory) {
        say("%s: %s", folder, strerror(errno));
        return false;
    }
    while ((entry = readdir(directory))) {
        char *name = strcmp(folder, ".") ? memory_print("%s/%s", folder, entry->d_name)
                                         : memory_copy_string(entry->d_name);
        if (recording_is_in(AT_FDCWD, name))
            words_add(&names, name);
        free(name);
    }
    closedir(directory);
    if (!names.count && !output->is_json)
        say("%s: no recording is in this folder; make one with: umbra record -- PROGRAM", folder);
    if (names.count)
        qsort(names.list, names.count, sizeof(*names.list), by_name);
    for (size_t i = 0; i < names.count && !output->count; i++)
        make_room(output, names.list[i]);
    for (size_t i = 0; i < names.count; i++)
        show(output, names.list[i]);
    words_free(&names);
    return true;
}

static int show_left(const char *name)
{
    struct recording recording;

    recording_open(&recording, name);
    recording_show_left(&recording, stdout);
    recording_free(&recording);
    return 0;
}

/* An array, or a table. */
static int show_folders(bool is_json, char *const *folders)
{
    struct output output = {.is_json = is_json, .columns = LEAST_COLUMNS};
    bool ok = true;

    for (char *const *folder = folders; *folder; folder++)
        if (recording_is_in(AT_FDCWD, *folder))
            make_room(&output, *folder);

    if (is_json)
        puts("[");
    if (!*folders)
        ok = show_all(&output, ".");
    for (; *folders; folders++)
        ok = show_all(&output, *folders) && ok;
    if (is_json)
        puts(output.count ? "\n]" : "]");
    return ok ? 0 : STATUS_FAILED;
}

int list_main(int count, char **arguments)
{
    struct command_line line;
    bool is_left = false, is_json = false;

    verb_begin(&line, VERB_LS, count, arguments);
    while (verb_next(&line, VERB_LS)) {
        is_left = is_left || line.option->code == OPTION_LEFT;
        is_json = is_json || line.option->code == OPTION_JSON;
    }
    if (is_left && is_json)
        say_and_exit(STATUS_USAGE, "ls: --left and --json exclude each other");
    if (is_left && line.rest[0] && line.rest[1])
        say_and_exit(STATUS_USAGE, "ls: --left is of one recording");
    if (is_left)
        return show_left(line.rest[0] ? line.rest[0] : RECORDING_DEFAULT);
    return show_folders(is_json, line.rest);
}
