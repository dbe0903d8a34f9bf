#include "service/attach/linux/matching.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/loaded_ranges.h"
#include "service/attach/linux/address_space.h"
#include "service/attach/linux/instrument_tool.h"
#include "service/attach/linux/program_files.h"

#define MOST_WORDS 128
#define PAGE       4096u

/* An image of the process, and where it would be by itself. */
struct matched_image {
    char file[PATH_MAX]; /* by which we open it */
    uint64_t base, linked;
};

static bool add(struct matching *matching, uint64_t address)
{
    if (matching->count == matching->room) {
        size_t room = matching->room ? 2 * matching->room : 256;
        uint64_t *grown = realloc(matching->addresses, room * sizeof(*grown));

        if (!grown)
            return false;
        matching->addresses = grown;
        matching->room = room;
    }
    matching->addresses[matching->count++] = address;
    return true;
}

/* Of lines of `instrument --list`: address, size, state and more, by tabs. */
static bool take_lines(struct matching *matching, const struct matched_image *image, FILE *lines)
{
    char *line = NULL;
    size_t room = 0;
    bool is_taken = true;

    while (is_taken && getline(&line, &room, lines) > 0) {
        uint64_t address;
        int end = 0; /* of what is as expected */

        if (sscanf(line, "%" SCNx64 "\t%*u\thooked\t%n", &address, &end) == 1 && end)
            is_taken = add(matching, image->base + address - image->linked);
    }
    free(line);
    return is_taken;
}

/* What cannot be instrumented has no functions that match. False: out of memory. */
static bool match_image(struct matching *matching, const char *tool,
                        const struct matched_image *image, char *const *filters)
{
    char text[INSTRUMENT_TEXT_SIZE];
    char *words[MOST_WORDS] = {(char *)tool, "--list", "--how=prologue", "-q", (char *)image->file};
    size_t count = 5;
    int output = memfd_create("functions", MFD_CLOEXEC);
    FILE *lines = output < 0 ? NULL : fdopen(output, "r");
    bool is_matched = lines;

    for (; *filters && count < MOST_WORDS - 1; filters++)
        words[count++] = *filters;
    if (lines && instrument_tool_run(words, output, text) && !lseek(output, 0, SEEK_SET))
        is_matched = take_lines(matching, image, lines);
    if (lines)
        fclose(lines);
    else if (output >= 0)
        close(output);
    return is_matched;
}

/* False: it is no image whose file is there. */
static bool find_image(const struct program_files *files, const struct address_range *range,
                       struct matched_image *image)
{
    struct bounded_file file;
    struct loaded_ranges ranges;
    struct failure ignored;
    bool is_image;

    if (range->offset || !range->inode || !program_files_reach(files, range, image->file) ||
        !bounded_file_open(&file, image->file, &ignored))
        return false;
    is_image = loaded_ranges_read(&ranges, &file) && !ranges.is_pe;
    bounded_file_close(&file);
    if (!is_image)
        return false;
    image->base = range->start;
    image->linked = ranges.base & ~(uint64_t)(PAGE - 1);
    loaded_ranges_free(&ranges);
    return true;
}

static bool match_all(struct matching *matching, const struct program_files *files,
                      const struct address_space *space, char *const *filters,
                      struct failure *failure)
{
    char tool[PATH_MAX];

    if (!instrument_tool_find(tool))
        return fail_because(
            failure,
            "expected instrument beside this program, found none; install Umbra as a whole");
    for (size_t i = 0; i < space->count; i++) {
        struct matched_image image;

        if (find_image(files, &space->ranges[i], &image) &&
            !match_image(matching, tool, &image, filters))
            return fail_because(failure, "out of memory");
    }
    return true;
}

/* `--include=` in front of each; null at the end. Null: out of memory. */
static char **filters_of(char *const *patterns)
{
    size_t count = 0;
    char **filters;

    while (patterns[count])
        count++;
    filters = calloc(count + 1, sizeof(*filters));
    for (size_t i = 0; filters && i < count; i++)
        if (asprintf(&filters[i], "--include=%s", patterns[i]) < 0)
            filters[i] = NULL;
    return filters;
}

bool matching_read(struct matching *matching, pid_t pid, char *const *patterns,
                   struct failure *failure)
{
    struct program_files files;
    struct address_space space;
    char **filters;
    bool is_read = false;

    *matching = (struct matching){0};
    if (!program_files_find(&files, pid, failure) || !address_space_read(&space, pid, failure))
        return false;
    filters = filters_of(patterns);
    if (filters)
        is_read = match_all(matching, &files, &space, filters, failure);
    else
        fail_because(failure, "out of memory");
    for (size_t i = 0; filters && filters[i]; i++)
        free(filters[i]);
    free(filters);
    address_space_free(&space);
    if (!is_read)
        matching_free(matching);
    return is_read;
}

void matching_free(struct matching *matching)
{
    free(matching->addresses);
    *matching = (struct matching){0};
}
