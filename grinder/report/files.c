#include "grinder/report/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "grinder/base/message.h"
#include "grinder/image/recorded_path.h"
#include "grinder/profile/symbolize.h"
#include "support/bounded_file.h"
#include "support/memory.h"

#define FILE_LIMIT (16u << 20) /* no source, but something generated */
#define LINE_LIMIT 2000u       /* bytes of a line that are shown */
#define NAMED      3           /* files that are named where there are many */

static uint32_t add_path(struct report_files *files, const char *path, enum trace_system system)
{
    XXH128_hash_t hash = XXH3_128bits(path, strlen(path));
    uint32_t number = pair_index_add(&files->paths, hash.low64, hash.high64);

    if (number + 1 == files->count) {
        files->files = memory_grow(files->files, files->count, &files->room, sizeof(*files->files));
        files->files[files->count++] = (struct report_file){.path = path, .system = system};
    }
    return number + 1;
}

static void add_files_of(struct report_files *files, const struct image *image)
{
    for (size_t i = 1; i < image->lines.file_count; i++) {
        const char *path = image->lines.files[i];
        if (path && strcmp(path, "???") != 0)
            files->of_place[image->first_file + i] = add_path(files, path, image->system);
    }
}

uint32_t report_file_of(const struct report_files *files, const struct report *report,
                        uint32_t function)
{
    return files->of_place[place_of_function(report->images, function).file_number];
}

uint32_t report_file_named(const struct report_files *files, const char *path)
{
    XXH128_hash_t hash = XXH3_128bits(path, strlen(path));
    uint32_t number;

    return pair_index_find(&files->paths, hash.low64, hash.high64, &number) ? number + 1 : 0;
}

/* What was inlined from a file without functions of its own. */
static void show_files_of_hits(struct report_files *files, const struct report *report,
                               const struct hit_list *hits)
{
    for (size_t i = 0; i < hits->count; i++) {
        struct place place = place_of_spot(report->images, hits->items[i].spot);
        files->files[files->of_place[place.file_number]].is_shown = true;
    }
}

bool report_files_begin(struct report_files *files, const struct report *report,
                        struct failure *failure)
{
    const struct images *images = report->images;

    *files = (struct report_files){.count = 1, .room = 16};
    if (!source_roots_begin(&files->roots, report->source_roots, failure))
        return false;
    files->files = memory_zeroed(files->room, sizeof(*files->files));
    files->of_place = memory_zeroed(place_file_count(images), sizeof(*files->of_place));
    for (size_t i = 0; i < images->count; i++)
        add_files_of(files, &images->images[i]);
    for (uint32_t i = 1; i < images_function_count(images); i++)
        files->files[report_file_of(files, report, i)].is_shown = true;
    for (size_t p = 0; p < report->profile->part_count; p++)
        show_files_of_hits(files, report, &report->profile->parts[p].hits);
    files->files[0].is_shown = false;
    return true;
}

void report_files_free(struct report_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->files[i].real);
    source_roots_free(&files->roots);
    free(files->files);
    free(files->of_place);
    pair_index_free(&files->paths);
}

/* Cuts lines that are longer than anybody reads; returns the new size. */
static size_t shorten_lines(char *text, size_t size)
{
    static const char more[] = " …";
    size_t to = 0, column = 0;

    for (size_t from = 0; from < size; from++) {
        if (text[from] == '\r' && from + 1 < size && text[from + 1] == '\n')
            continue;
        column = text[from] == '\n' ? 0 : column + 1;
        if (column <= LINE_LIMIT) {
            text[to++] = text[from];
        } else if (column == LINE_LIMIT + sizeof(more)) {
            memcpy(text + to, more, sizeof(more) - 1);
            to += sizeof(more) - 1;
        }
    }
    text[to] = 0;
    return to;
}

static bool is_younger(const struct bounded_file *file, const struct profile *profile)
{
    struct stat status;
    uint64_t created = profile->processes[0].header.created_ns;

    return fstat(file->fd, &status) == 0 && created &&
           (uint64_t)status.st_mtim.tv_sec > created / 1000000000u;
}

/* The file's text, *size its bytes; null if there is none to be shown. Sets the file's state. */
static char *read_text(const struct report_files *files, const struct report *report,
                       struct report_file *file, size_t *size)
{
    char *path = recorded_path_find(file->path, file->system, report->path_maps), *text = NULL;
    enum source_access access = SOURCE_MISSING;
    struct bounded_file bounded;

    file->state = FILE_MISSING;
    if (path)
        access = source_file_open(&bounded, path, &files->roots, &file->real);
    free(path);
    if (access == SOURCE_WITHHELD)
        file->state = FILE_WITHHELD;
    if (access != SOURCE_TAKEN)
        return NULL;
    if (bounded.size <= FILE_LIMIT)
        text = bounded_file_copy(&bounded, 0, bounded.size);
    if (text)
        file->state = is_younger(&bounded, report->profile) ? FILE_CHANGED : FILE_READ;
    *size = bounded.size;
    bounded_file_close(&bounded);
    return text;
}

static void write_file(struct report_files *files, size_t number, const struct report *report,
                       struct page *page)
{
    struct report_file *file = &files->files[number];
    size_t size = 0;
    char *text = read_text(files, report, file, &size), name[32];
    FILE *stream;

    if (!text)
        return;
    if (!page_has_room(page, size)) {
        file->state = FILE_NO_ROOM;
        free(text);
        return;
    }
    size = shorten_lines(text, size);
    snprintf(name, sizeof(name), "s%zu", number);
    stream = page_begin_chunk(page, name);
    if (stream) {
        page_write_string(stream, text, size);
        page_end_chunk(page);
        page->text += size;
    }
    free(text);
}

void report_files_write(struct report_files *files, const struct report *report, struct page *page)
{
    for (size_t i = 1; i < files->count; i++)
        if (files->files[i].is_shown)
            write_file(files, i, report, page);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The files' true paths, each once: a module may name a file by many paths. To be freed. */
static const char **list_in_state(const struct report_files *files, bool shown, size_t *count)
{
    const char **names = memory_zeroed(files->count, sizeof(*names));
    size_t kept = 0;

    *count = 0;
    for (size_t i = 1; i < files->count; i++) {
        enum report_file_state state = files->files[i].state;
        if (shown ? state == FILE_READ || state == FILE_CHANGED : state == FILE_WITHHELD)
            names[(*count)++] = files->files[i].real;
    }
    qsort(names, *count, sizeof(*names), compare_names);
    for (size_t i = 0; i < *count; i++)
        if (!kept || strcmp(names[i], names[kept - 1]) != 0)
            names[kept++] = names[i];
    *count = kept;
    return names;
}

static void say_shown(const struct report_files *files, const struct report *report,
                      const char *path)
{
    size_t count;
    const char **names = list_in_state(files, true, &count);

    for (size_t i = 0; report->verbose && i < count; i++)
        message("%s: holds the text of %s", path, names[i]);
    if (count && !report->quiet)
        message("%s: holds the text of %zu source file%s%s", path, count, count == 1 ? "" : "s",
                report->verbose ? "" : "; --verbose lists them");
    free(names);
}

static void say_withheld(const struct report_files *files, const struct report *report,
                         const char *path)
{
    char list[NAMED * 402 + 8] = "";
    size_t count, length = 0;
    const char **names = list_in_state(files, false, &count);

    for (size_t i = 0; report->verbose && i < count; i++)
        message("%s: does not hold the text of %s", path, names[i]);
    for (size_t i = 0; i < count && i < NAMED; i++)
        length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%.400s", i ? ", " : "",
                                   names[i]);
    if (count)
        message("%s: leaves out %zu source file%s that not everybody on this system may read: "
                "%s%s; --source-root=DIR takes in those below DIR",
                path, count, count == 1 ? "" : "s", list, count > NAMED ? ", …" : "");
    free(names);
}

void report_files_say(const struct report_files *files, const struct report *report,
                      const char *path)
{
    if (!strcmp(path, "-")) /* whoever called has it put in its place */
        path = "the page";
    say_shown(files, report, path);
    say_withheld(files, report, path);
}
