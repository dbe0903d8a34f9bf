#include "grinder/formats/counted_lines.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

/* 0: it is not among them. */
static uint32_t find_image(const struct images *images, const struct image *wanted)
{
    for (uint32_t i = 1; i < images->count; i++)
        if (images_are_same(&images->images[i], wanted))
            return i;
    return 0;
}

static void add_line(struct counted_lines *lines, uint32_t function, const struct place *place,
                     uint64_t instructions)
{
    struct counted_line *last = lines->count ? &lines->lines[lines->count - 1] : NULL;

    if (last && last->function == function && last->place.file_number == place->file_number &&
        last->place.line == place->line) {
        last->instructions += instructions;
        return;
    }
    lines->lines = memory_grow(lines->lines, lines->count, &lines->room, sizeof(*lines->lines));
    lines->lines[lines->count++] = (struct counted_line){function, *place, instructions};
}

/* The spots of a function, which are `count`. first_file: what numbers of files are moved by. */
static void add_spots(struct counted_lines *lines, const struct coverage *coverage,
                      const struct covered_spot *spots, size_t count, uint32_t function,
                      const struct place *own, uint32_t first_file)
{
    for (size_t i = 0; i < count; i++) {
        struct place place = place_of_site(&coverage->images, spots[i].place);

        if (!place.line || !spots[i].hits)
            continue;
        place.file_number = own->file_number && !strcmp(place.file, own->file)
                                ? own->file_number
                                : first_file + place.file_number;
        add_line(lines, function, &place, spots[i].hits);
    }
}

static int compare_lines(const void *left, const void *right)
{
    const struct counted_line *a = left, *b = right;

    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->place.file_number != b->place.file_number)
        return a->place.file_number < b->place.file_number ? -1 : 1;
    return (a->place.line > b->place.line) - (a->place.line < b->place.line);
}

static void sort_lines(struct counted_lines *lines)
{
    size_t count = lines->count;

    if (!count)
        return;
    qsort(lines->lines, count, sizeof(*lines->lines), compare_lines);
    lines->count = 1;
    for (size_t i = 1; i < count; i++) {
        struct counted_line line = lines->lines[i];

        add_line(lines, line.function, &line.place, line.instructions);
    }
}

void counted_lines_find(struct counted_lines *lines, const struct coverage *coverage,
                        const struct images *images)
{
    uint32_t first_file = place_file_count(images), image = 0, found = 0;
    size_t spot = 0;

    *lines = (struct counted_lines){.file_count = first_file};
    if (!coverage)
        return;
    lines->file_count += place_file_count(&coverage->images);
    for (size_t i = 0; i < coverage->function_count; i++) {
        const struct covered_function *covered = &coverage->functions[i];
        const struct function *function = &coverage->images.functions[covered->function];
        uint32_t number;

        if (function->image != image) {
            image = function->image;
            found = find_image(images, &coverage->images.images[image]);
        }
        number = found ? images_recorded(images, found, function->index) : 0;
        if (number) {
            struct place own = place_of_function(images, number);
            add_spots(lines, coverage, &coverage->spots[spot], covered->spots, number, &own,
                      first_file);
        }
        spot += covered->spots;
    }
    sort_lines(lines);
}

void counted_lines_free(struct counted_lines *lines)
{
    free(lines->lines);
    *lines = (struct counted_lines){0};
}

/* The place of the first line of the function, or of one behind it. */
static size_t first_line(const struct counted_lines *lines, uint32_t function)
{
    size_t low = 0, high = lines->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines->lines[middle].function < function)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct counted_line *counted_lines_of(const struct counted_lines *lines, uint32_t function,
                                            size_t *count, uint64_t *sum)
{
    size_t first = first_line(lines, function), end = first;

    *sum = 0;
    for (; end < lines->count && lines->lines[end].function == function; end++)
        *sum += lines->lines[end].instructions;
    *count = end - first;
    return lines->lines + first;
}
