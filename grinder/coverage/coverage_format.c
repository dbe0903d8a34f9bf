/*
 * table      how much of each file and function ran, for people
 * tsv        blocks of each function, a line each
 * lcov       lcov's tracefile, for genhtml: lines, functions
 * cobertura  Cobertura's XML, for CI servers and gcovr from 8 on: lines
 * gcovr      the JSON that gcovr 5.2, Debian 12's, adds up: lines
 * drcov      DynamoRIO's log, for disassemblers: blocks, binary
 * callgrind  callgrind's format, for KCachegrind: of blocks that were counted, how often each
 * instruction ran
 */
#include "grinder/coverage/coverage_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/profile/symbolize.h"
#include "support/memory.h"
#include "support/utf8.h"

#define DRCOV_MOST_IMAGES UINT16_MAX
#define DRCOV_MOST_SIZE   UINT16_MAX /* bytes of a block: a longer one is several */

static const struct function *function_of(const struct coverage *coverage, size_t place)
{
    return &coverage->images.functions[coverage->functions[place].function];
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

/* One past the last line of the same file. */
static size_t end_of_file(const struct coverage *coverage, size_t from)
{
    size_t end = from;

    while (end < coverage->line_count &&
           !strcmp(coverage->lines[end].file, coverage->lines[from].file))
        end++;
    return end;
}

static uint64_t lines_ran(const struct coverage *coverage, size_t from, size_t end)
{
    uint64_t ran = 0;

    for (; from < end; from++)
        ran += coverage->lines[from].hits != 0;
    return ran;
}

/* --- table --- */

static const struct covered_function *sorted_functions;

/* Most that did not run first. */
static int by_missing(const void *left, const void *right)
{
    size_t i = *(const size_t *)left, j = *(const size_t *)right;
    const struct covered_function *a = &sorted_functions[i], *b = &sorted_functions[j];
    uint32_t lacks_a = a->blocks - a->ran, lacks_b = b->blocks - b->ran;

    if (lacks_a != lacks_b)
        return lacks_a > lacks_b ? -1 : 1;
    return (i > j) - (i < j);
}

static void write_file_rows(FILE *stream, const struct coverage *coverage)
{
    fprintf(stream, "\n  lines ran         of       %%  file\n");
    for (size_t i = 0, end; i < coverage->line_count; i = end) {
        uint64_t ran;

        end = end_of_file(coverage, i);
        ran = lines_ran(coverage, i, end);
        fprintf(stream, "%11" PRIu64 " %10zu  %5.1f%%  ", ran, end - i, percent(ran, end - i));
        utf8_write_cell(stream, coverage->lines[i].file);
        putc('\n', stream);
    }
}

static int by_instructions(const void *left, const void *right)
{
    size_t i = *(const size_t *)left, j = *(const size_t *)right;
    uint64_t a = sorted_functions[i].instructions, b = sorted_functions[j].instructions;

    if (a != b)
        return a > b ? -1 : 1;
    return (i > j) - (i < j);
}

/* Places of functions. The caller frees it. */
static size_t *in_order(const struct coverage *coverage, int (*compare)(const void *, const void *))
{
    size_t *order = memory_zeroed(coverage->function_count, sizeof(*order));

    for (size_t i = 0; i < coverage->function_count; i++)
        order[i] = i;
    sorted_functions = coverage->functions;
    if (coverage->function_count)
        qsort(order, coverage->function_count, sizeof(*order), compare);
    return order;
}

static void write_instruction_rows(FILE *stream, const struct coverage *coverage, size_t top)
{
    size_t *order = in_order(coverage, by_instructions);

    fputs("\n    instructions       %            runs  function\n", stream);
    for (size_t i = 0; i < coverage->function_count && i < top; i++) {
        const struct covered_function *function = &coverage->functions[order[i]];

        if (!function->instructions)
            break;
        fprintf(stream, "%16" PRIu64 "  %5.1f%% %15" PRIu64 "  ", function->instructions,
                percent(function->instructions, coverage->instructions), function->calls);
        utf8_write_cell(stream, function_of(coverage, order[i])->name);
        putc('\n', stream);
    }
    free(order);
}

static void write_function_rows(FILE *stream, const struct coverage *coverage, size_t top)
{
    size_t *order = in_order(coverage, by_missing);
    size_t count = coverage->function_count < top ? coverage->function_count : top;

    fprintf(stream, "\n blocks ran         of       %%  function%s\n",
            count < coverage->function_count ? " (those that lack most)" : "");
    for (size_t i = 0; i < count; i++) {
        const struct covered_function *function = &coverage->functions[order[i]];

        fprintf(stream, "%11" PRIu32 " %10" PRIu32 "  %5.1f%%  ", function->ran, function->blocks,
                percent(function->ran, function->blocks));
        utf8_write_cell(stream, function_of(coverage, order[i])->name);
        putc('\n', stream);
    }
    free(order);
}

static void write_table(FILE *stream, const struct coverage *coverage, size_t top)
{
    uint64_t ran = lines_ran(coverage, 0, coverage->line_count), entered = 0;

    for (size_t i = 0; i < coverage->function_count; i++)
        entered += coverage->functions[i].ran != 0;
    fprintf(stream, "processes  %zu\n", coverage->processes);
    fprintf(stream, "blocks     %" PRIu64 " of %" PRIu64 " ran (%.1f%%)\n", coverage->blocks_ran,
            coverage->blocks, percent(coverage->blocks_ran, coverage->blocks));
    fprintf(stream, "functions  %" PRIu64 " of %zu ran (%.1f%%)\n", entered,
            coverage->function_count, percent(entered, coverage->function_count));
    if (coverage->is_counted)
        fprintf(stream, "executed   %" PRIu64 " instructions\n", coverage->instructions);
    if (coverage->not_copied)
        fprintf(stream,
                "left out   %" PRIu64
                " functions that cannot be copied: instrument --list says why\n",
                coverage->not_copied);
    if (coverage->line_count)
        fprintf(stream, "lines      %" PRIu64 " of %zu ran (%.1f%%)\n", ran, coverage->line_count,
                percent(ran, coverage->line_count));
    else
        fprintf(stream, "lines      no debug information tells of any\n");
    if (coverage->is_counted)
        write_instruction_rows(stream, coverage, top);
    if (coverage->line_count)
        write_file_rows(stream, coverage);
    write_function_rows(stream, coverage, top);
}

/* --- tsv --- */

static void write_tsv(FILE *stream, const struct coverage *coverage, size_t top)
{
    (void)top;
    fprintf(stream, "function\tmodule\tfile\tline\tblocks\tblocks_ran%s\n",
            coverage->is_counted ? "\tinstructions\truns" : "");
    for (size_t i = 0; i < coverage->function_count; i++) {
        const struct function *function = function_of(coverage, i);
        struct place place = place_of_function(&coverage->images, coverage->functions[i].function);

        utf8_write_cell(stream, function->name);
        putc('\t', stream);
        utf8_write_cell(stream, coverage->images.images[function->image].path);
        putc('\t', stream);
        if (place.line)
            utf8_write_cell(stream, place.file);
        putc('\t', stream);
        if (place.line)
            fprintf(stream, "%" PRIu32, place.line);
        fprintf(stream, "\t%" PRIu32 "\t%" PRIu32, coverage->functions[i].blocks,
                coverage->functions[i].ran);
        if (coverage->is_counted)
            fprintf(stream, "\t%" PRIu64 "\t%" PRIu64, coverage->functions[i].instructions,
                    coverage->functions[i].calls);
        putc('\n', stream);
    }
}

/* --- lcov --- */

static void write_lcov_functions(FILE *stream, const struct coverage *coverage, const char *file)
{
    size_t found = 0, ran = 0;

    for (size_t i = 0; i < coverage->function_count; i++) {
        const struct covered_function *function = &coverage->functions[i];
        struct place place = place_of_function(&coverage->images, function->function);

        if (!place.line || strcmp(place.file, file) != 0)
            continue;
        fprintf(stream, "FN:%" PRIu32 ",", place.line);
        utf8_write_cell(stream, function_of(coverage, i)->name);
        fprintf(stream, "\nFNDA:%" PRIu64 ",", function->calls);
        utf8_write_cell(stream, function_of(coverage, i)->name);
        putc('\n', stream);
        found++;
        ran += function->ran != 0;
    }
    fprintf(stream, "FNF:%zu\nFNH:%zu\n", found, ran);
}

static void write_lcov(FILE *stream, const struct coverage *coverage, size_t top)
{
    (void)top;
    for (size_t i = 0, end; i < coverage->line_count; i = end) {
        end = end_of_file(coverage, i);
        fputs("TN:\nSF:", stream);
        utf8_write_cell(stream, coverage->lines[i].file);
        putc('\n', stream);
        write_lcov_functions(stream, coverage, coverage->lines[i].file);
        for (size_t k = i; k < end; k++)
            fprintf(stream, "DA:%" PRIu32 ",%" PRIu64 "\n", coverage->lines[k].line,
                    coverage->lines[k].hits);
        fprintf(stream, "LF:%zu\nLH:%" PRIu64 "\nend_of_record\n", end - i,
                lines_ran(coverage, i, end));
    }
}

/* --- cobertura --- */

static void write_xml(FILE *stream, const char *text)
{
    char *copy = memory_copy_utf8(text);

    for (const char *c = copy; *c; c++) {
        switch (*c) {
        case '<':
            fputs("&lt;", stream);
            break;
        case '&':
            fputs("&amp;", stream);
            break;
        case '"':
            fputs("&quot;", stream);
            break;
        default:
            putc(*c, stream);
        }
    }
    free(copy);
}

static void write_rate(FILE *stream, uint64_t ran, uint64_t all)
{
    fprintf(stream, "line-rate=\"%.4f\" branch-rate=\"0\"", percent(ran, all) / 100);
}

static void write_class(FILE *stream, const struct coverage *coverage, size_t from, size_t end)
{
    const char *file = coverage->lines[from].file, *slash = strrchr(file, '/');

    fputs("<class name=\"", stream);
    write_xml(stream, slash ? slash + 1 : file);
    fputs("\" filename=\"", stream);
    write_xml(stream, file);
    fputs("\" ", stream);
    write_rate(stream, lines_ran(coverage, from, end), end - from);
    fputs(" complexity=\"0\"><methods/><lines>\n", stream);
    for (size_t i = from; i < end; i++)
        fprintf(stream, "<line number=\"%" PRIu32 "\" hits=\"%" PRIu64 "\" branch=\"false\"/>\n",
                coverage->lines[i].line, coverage->lines[i].hits);
    fputs("</lines></class>\n", stream);
}

static void write_cobertura(FILE *stream, const struct coverage *coverage, size_t top)
{
    uint64_t ran = lines_ran(coverage, 0, coverage->line_count);

    (void)top;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<!DOCTYPE coverage SYSTEM "
          "\"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n<coverage ",
          stream);
    write_rate(stream, ran, coverage->line_count);
    fprintf(stream,
            " lines-covered=\"%" PRIu64 "\" lines-valid=\"%zu\" branches-covered=\"0\" "
            "branches-valid=\"0\" complexity=\"0\" timestamp=\"0\" version=\"umbra\">\n"
            "<sources><source>/</source></sources>\n<packages><package name=\"\" ",
            ran, coverage->line_count);
    write_rate(stream, ran, coverage->line_count);
    fputs(" complexity=\"0\"><classes>\n", stream);
    for (size_t i = 0, end; i < coverage->line_count; i = end) {
        end = end_of_file(coverage, i);
        write_class(stream, coverage, i, end);
    }
    fputs("</classes></package></packages></coverage>\n", stream);
}

/* --- gcovr --- */

/* Functions stay out: gcovr ends at two of one name on different lines, as templates' may be. */
static void write_gcovr(FILE *stream, const struct coverage *coverage, size_t top)
{
    (void)top;
    fputs("{\"gcovr/format_version\":\"0.3\",\"files\":[", stream);
    for (size_t i = 0, end; i < coverage->line_count; i = end) {
        end = end_of_file(coverage, i);
        fputs(i ? ",\n{\"file\":" : "\n{\"file\":", stream);
        utf8_write_json(stream, coverage->lines[i].file);
        fputs(",\"functions\":[],\"lines\":[", stream);
        for (size_t k = i; k < end; k++)
            fprintf(stream,
                    "%s\n{\"line_number\":%" PRIu32 ",\"count\":%" PRIu64
                    ",\"branches\":[],\"gcovr/noncode\":false,\"gcovr/excluded\":false}",
                    k > i ? "," : "", coverage->lines[k].line, coverage->lines[k].hits);
        fputs("]}", stream);
    }
    fputs("]}\n", stream);
}

/* --- drcov --- */

struct drcov_block {
    uint32_t start;
    uint16_t size, image;
};

/* Blocks that ran, in parts of at most DRCOV_MOST_SIZE; written where there is a stream. */
static size_t drcov_blocks(FILE *stream, const struct coverage *coverage, uint32_t image,
                           uint16_t number)
{
    const struct manifest *manifest = &coverage->images.images[image].manifest;
    size_t count = 0;

    for (uint32_t i = 0; i < manifest->block_count; i++) {
        struct drcov_block block = {.start = manifest->blocks[i].rva, .image = number};
        uint32_t left = coverage->covered[image].counts[i] ? manifest->blocks[i].size : 0;

        for (; left; left -= block.size, block.start += block.size, count++) {
            block.size = (uint16_t)(left < DRCOV_MOST_SIZE ? left : DRCOV_MOST_SIZE);
            if (stream)
                fwrite(&block, sizeof(block), 1, stream);
        }
    }
    return count;
}

static void write_drcov(FILE *stream, const struct coverage *coverage, size_t top)
{
    size_t images = 0, blocks = 0, count = coverage->images.count;

    (void)top;
    for (uint32_t i = 0; i < count && i < coverage->room; i++)
        images += coverage->covered[i].words != NULL && images < DRCOV_MOST_IMAGES;
    fprintf(stream,
            "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\nModule Table: version 2, count %zu\n"
            "Columns: id, base, end, entry, path\n",
            images);
    for (uint32_t i = 0, number = 0; i < count && number < images; i++) {
        const struct image *image = &coverage->images.images[i];

        if (i >= coverage->room || !coverage->covered[i].words)
            continue;
        fprintf(stream, "%3" PRIu32 ", 0x%" PRIx64 ", 0x%" PRIx64 ", 0x0, ", number,
                image->ranges.base, image->ranges.end);
        utf8_write_cell(stream, image->path);
        putc('\n', stream);
        blocks += drcov_blocks(NULL, coverage, i, (uint16_t)number++);
    }
    fprintf(stream, "BB Table: %zu bbs\n", blocks);
    for (uint32_t i = 0, number = 0; i < count && number < images; i++)
        if (i < coverage->room && coverage->covered[i].words)
            drcov_blocks(stream, coverage, i, (uint16_t)number++);
}

/* --- callgrind --- */

/*
 *      # callgrind format
 *      version: 1
 *      positions: instr line
 *      events: Ir
 *
 *      ob=/usr/bin/demo
 *      fl=/home/me/demo.c          ??? if it is not known
 *      fn=main
 *      0x401136 12 1               an instruction's address as linked, its line, how often it ran
 *      fi=/usr/include/x.h         of what is inlined
 *      fe=/home/me/demo.c          and back
 */
static void write_file(FILE *stream, const char *key, const char *file)
{
    fprintf(stream, "%s=", key);
    utf8_write_cell(stream, file);
    putc('\n', stream);
}

/* The spots of a function, which are `count`. */
static void write_spots(FILE *stream, const struct coverage *coverage,
                        const struct covered_spot *spots, size_t count, const char *file)
{
    const char *now = file;

    for (size_t i = 0; i < count; i++) {
        uint32_t image = (uint32_t)(spots[i].place >> 32);
        struct place place = place_of_site(&coverage->images, spots[i].place);

        if (!spots[i].hits)
            continue;
        if (strcmp(place.file, now) != 0)
            write_file(stream, strcmp(place.file, file) != 0 ? "fi" : "fe", now = place.file);
        fprintf(stream, "0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n",
                coverage->images.images[image].manifest.head->preferred_base +
                    (uint32_t)spots[i].place,
                place.line, spots[i].hits);
    }
}

static void write_callgrind(FILE *stream, const struct coverage *coverage, size_t top)
{
    size_t spot = 0;

    (void)top;
    fprintf(stream,
            "# callgrind format\nversion: 1\ncreator: umbra\npositions: instr line\n"
            "event: Ir : Instructions executed\nevents: Ir\nsummary: %" PRIu64 "\n",
            coverage->instructions);
    for (size_t i = 0; i < coverage->function_count; i++) {
        const struct covered_function *covered = &coverage->functions[i];
        const struct function *function = function_of(coverage, i);
        struct place place = place_of_function(&coverage->images, covered->function);

        if (covered->instructions) {
            putc('\n', stream);
            write_file(stream, "ob", coverage->images.images[function->image].path);
            write_file(stream, "fl", place.file);
            write_file(stream, "fn", function->name);
            write_spots(stream, coverage, &coverage->spots[spot], covered->spots, place.file);
        }
        spot += covered->spots;
    }
    fprintf(stream, "\ntotals: %" PRIu64 "\n", coverage->instructions);
}

static const struct coverage_format formats[] = {
    {"table", write_table, false},        {"tsv", write_tsv, false},
    {"lcov", write_lcov, false},          {"cobertura", write_cobertura, false},
    {"gcovr", write_gcovr, false},        {"drcov", write_drcov, false},
    {"callgrind", write_callgrind, true},
};

const struct coverage_format *coverage_format_named(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (!name || !strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}
