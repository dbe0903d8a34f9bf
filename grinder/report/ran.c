/*
 * Files, functions and modules have other numbers on the page than among the images of the
 * coverage:
 *
 *      file                 by path
 *      image                by path, hash of the original, and how many functions it has
 *      function             by image, and place in its manifest
 *
 * Some code has no blocks: functions without a copy. Where a compiler makes several functions of a
 * line, as of what is inlined, the line may have run in one of these. So lines that have calls or
 * samples ran, too.
 */
#include "grinder/report/ran.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/base/pair_index.h"
#include "grinder/profile/symbolize.h"
#include "support/memory.h"

/* How much of something ran: of a file its lines, else blocks. */
struct share {
    uint32_t id; /* on the page */
    uint64_t all, ran;
    size_t first; /* of a file: its first line among those of the coverage */
};

struct shares {
    struct share *items;
    size_t count, room;
};

static struct share *add_share(struct shares *shares, uint32_t id)
{
    shares->items =
        memory_grow(shares->items, shares->count, &shares->room, sizeof(*shares->items));
    shares->items[shares->count] = (struct share){.id = id};
    return &shares->items[shares->count++];
}

/* --- lines that have figures --- */

static void add_met(struct pair_index *met, const struct report_files *files, struct place place)
{
    if (place.line)
        pair_index_add(met, files->of_place[place.file_number], place.line);
}

static void add_met_of(struct pair_index *met, const struct report *report,
                       const struct report_files *files, const struct part *part)
{
    for (size_t i = 0; i < part->functions.keys.count; i++)
        add_met(met, files,
                place_of_function(report->images, (uint32_t)part->functions.keys.pairs[i].a));
    for (size_t i = 0; i < part->edges.keys.count; i++)
        add_met(met, files, place_of_site(report->images, part->edges.keys.pairs[i].b));
    for (size_t i = 0; i < part->hits.count; i++)
        add_met(met, files, place_of_spot(report->images, part->hits.items[i].spot));
}

static bool line_ran(const struct covered_line *line, const struct pair_index *met, uint32_t file)
{
    uint32_t number;

    return line->hits || pair_index_find(met, file, line->line, &number);
}

/* --- shares --- */

/* Of the files whose code the page may show. */
static struct shares shares_of_files(const struct coverage *coverage,
                                     const struct report_files *files, const struct pair_index *met)
{
    struct shares shares = {0};
    struct share *share = NULL;

    for (size_t i = 0; i < coverage->line_count; i++) {
        const struct covered_line *line = &coverage->lines[i];

        if (!i || strcmp(line->file, line[-1].file) != 0) {
            uint32_t file = report_file_named(files, line->file);
            share = files->files[file].is_shown ? add_share(&shares, file) : NULL;
            if (share)
                share->first = i;
        }
        if (!share)
            continue;
        share->all++;
        share->ran += line_ran(line, met, share->id);
    }
    return shares;
}

/* 0: no function of the image was called. */
static uint32_t image_on_page(const struct images *images, const struct image *wanted)
{
    for (uint32_t i = 1; i < images->count; i++) {
        const struct image *image = &images->images[i];
        if (images_are_same(image, wanted))
            return i;
    }
    return 0;
}

/* Functions that never ran are on no page, but count in their modules. */
static void shares_of_functions(const struct report *report, struct shares *functions,
                                struct shares *modules)
{
    const struct coverage *coverage = report->coverage;
    uint32_t image = 0, module = 0;

    for (size_t i = 0; i < coverage->function_count; i++) {
        const struct covered_function *covered = &coverage->functions[i];
        const struct function *function = &coverage->images.functions[covered->function];
        uint32_t number;

        if (!i || function->image != image) {
            image = function->image;
            module = image_on_page(report->images, &coverage->images.images[image]);
            if (module)
                add_share(modules, module);
        }
        if (!module)
            continue;
        modules->items[modules->count - 1].all += covered->blocks;
        modules->items[modules->count - 1].ran += covered->ran;
        number = images_recorded(report->images, module, function->index);
        if (number)
            *add_share(functions, number) =
                (struct share){.id = number, .all = covered->blocks, .ran = covered->ran};
    }
}

/* --- writing --- */

static void write_shares(FILE *stream, const char *name, const struct shares *shares)
{
    fprintf(stream, "\"%s\":{\"id\":[", name);
    for (size_t i = 0; i < shares->count; i++)
        fprintf(stream, "%s%" PRIu32, i ? "," : "", shares->items[i].id);
    fputs("],\"all\":[", stream);
    for (size_t i = 0; i < shares->count; i++)
        fprintf(stream, "%s%" PRIu64, i ? "," : "", shares->items[i].all);
    fputs("],\"ran\":[", stream);
    for (size_t i = 0; i < shares->count; i++)
        fprintf(stream, "%s%" PRIu64, i ? "," : "", shares->items[i].ran);
    fputs("]}", stream);
}

static void write_missed(FILE *stream, const struct coverage *coverage, const struct share *file,
                         const struct pair_index *met)
{
    const char *between = "";

    putc('[', stream);
    for (size_t i = file->first; i < file->first + file->all; i++) {
        if (line_ran(&coverage->lines[i], met, file->id))
            continue;
        fprintf(stream, "%s%" PRIu32, between, coverage->lines[i].line);
        between = ",";
    }
    putc(']', stream);
}

/* --- how often --- */

/* Lines that ran, each with how often. */
static void write_line_runs(FILE *stream, const struct coverage *coverage, const struct share *file)
{
    const char *between = "";

    putc('[', stream);
    for (size_t i = file->first; i < file->first + file->all; i++) {
        if (!coverage->lines[i].hits)
            continue;
        fprintf(stream, "%s%" PRIu32 ",%" PRIu64, between, coverage->lines[i].line,
                coverage->lines[i].hits);
        between = ",";
    }
    putc(']', stream);
}

/* A function's blocks, each with its offset and how often it ran; *block: the first, then behind
 * the last. */
static void write_block_runs(FILE *stream, const struct coverage *coverage,
                             const struct covered_function *covered, uint32_t *block)
{
    const struct function *function = &coverage->images.functions[covered->function];
    const struct manifest *manifest = &coverage->images.images[function->image].manifest;
    const uint64_t *counts = coverage->covered[function->image].counts;
    uint32_t written = 0;

    if (stream)
        putc('[', stream);
    for (; written < covered->blocks; ++*block) {
        if (!manifest->blocks[*block].size)
            continue;
        if (stream)
            fprintf(stream, "%s%" PRIu32 ",%" PRIu64, written ? "," : "",
                    manifest->blocks[*block].rva - manifest->functions[function->index].rva,
                    counts[*block]);
        written++;
    }
    if (stream)
        putc(']', stream);
}

/* Of functions on the page, by their numbers in `functions`. */
static void write_runs_of_functions(FILE *stream, const struct report *report,
                                    const struct shares *functions)
{
    const struct coverage *coverage = report->coverage;
    uint32_t image = 0, module = 0, block = 0;
    size_t next = 0;

    for (size_t i = 0; i < coverage->function_count && next < functions->count; i++) {
        const struct covered_function *covered = &coverage->functions[i];
        const struct function *function = &coverage->images.functions[covered->function];
        bool is_next;

        if (function->image != image) {
            image = function->image;
            module = image_on_page(report->images, &coverage->images.images[image]);
            block = 0;
        }
        is_next = module && images_recorded(report->images, module, function->index) ==
                                functions->items[next].id;
        if (is_next && next)
            putc(',', stream);
        write_block_runs(is_next ? stream : NULL, coverage, covered, &block);
        next += is_next;
    }
}

/* If blocks were counted. */
static void write_runs(FILE *stream, const struct report *report, const struct shares *of_files,
                       const struct shares *functions)
{
    if (!report->coverage->is_counted)
        return;
    fputs(",\n\"runs\":{\"lines\":[", stream);
    for (size_t i = 0; i < of_files->count; i++) {
        fputs(i ? "," : "", stream);
        write_line_runs(stream, report->coverage, &of_files->items[i]);
    }
    fputs("],\n\"blocks\":[", stream);
    write_runs_of_functions(stream, report, functions);
    fputs("]}", stream);
}

void ran_write(FILE *stream, const struct report *report, const struct report_files *files)
{
    struct shares of_files, functions = {0}, modules = {0};
    struct pair_index met = {0};

    for (size_t p = 0; p < report->profile->part_count; p++)
        add_met_of(&met, report, files, &report->profile->parts[p]);
    of_files = shares_of_files(report->coverage, files, &met);
    shares_of_functions(report, &functions, &modules);
    putc('{', stream);
    write_shares(stream, "files", &of_files);
    fputs(",\n\"missed\":[", stream);
    for (size_t i = 0; i < of_files.count; i++) {
        fputs(i ? "," : "", stream);
        write_missed(stream, report->coverage, &of_files.items[i], &met);
    }
    fputs("],\n", stream);
    write_shares(stream, "functions", &functions);
    fputs(",\n", stream);
    write_shares(stream, "modules", &modules);
    write_runs(stream, report, &of_files, &functions);
    putc('}', stream);
    free(of_files.items);
    free(functions.items);
    free(modules.items);
    pair_index_free(&met);
}
