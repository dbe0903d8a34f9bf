/*
 * What changed, as a table to read, as one to compute with, or by stacks:
 *
 *      table       the largest changes, and the sums of all
 *      tsv         every function, with a line of headings; each column adds up to its recording's
 *      folded      a;b;c BEFORE AFTER: what difffolded.pl writes
 *      flamegraph  as wide as the second recording, coloured by what changed
 *
 * Where one of the recordings has no times, the table lacks their columns, and in tsv these are
 * empty; so, too, with counts, where one counts calls and the other samples. Both have columns of
 * instructions only where both recordings count these; with a baseline, the total ones are empty.
 * By calls or instructions both have the context of a function that changed most, if it has
 * callers.
 */
#include "grinder/views/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/formats/flamegraph.h"
#include "grinder/formats/folded.h"
#include "grinder/views/diff_stacks.h"
#include "grinder/views/figures.h"
#include "support/memory.h"
#include "support/utf8.h"

#define FRAMES_SHOWN 8 /* of a context */

static int64_t change_of(uint64_t before, uint64_t after)
{
    return (int64_t)(after - before);
}

typedef char *write_figure(char text[FIGURE_ROOM], uint64_t number);

static char *put_count(char text[FIGURE_ROOM], uint64_t number)
{
    return figure_count(text, number);
}

static char *put_time(char text[FIGURE_ROOM], uint64_t ns)
{
    return figure_time(text, figure_exact((double)ns));
}

/* Before, after, change; of the change the sign, too, behind a `~` if it is noise. */
static void write_columns(FILE *stream, uint64_t before, uint64_t after, uint64_t noise,
                          write_figure *put)
{
    uint64_t distance = after > before ? after - before : before - after;
    char text[FIGURE_ROOM], change[FIGURE_ROOM + 2];

    fprintf(stream, "%8s ", put(text, before));
    fprintf(stream, "%8s ", put(text, after));
    put(text, distance);
    snprintf(change, sizeof(change), "%s%s%s", distance <= noise ? "~" : "",
             after < before   ? "-"
             : after > before ? "+"
                              : "",
             text);
    fprintf(stream, "%9s  ", after == before ? "same" : change);
}

static void write_share(FILE *stream, int64_t change, uint64_t whole)
{
    if (whole)
        fprintf(stream, "%+8.2f%%  ", (double)change * 100 / (double)whole);
    else
        fprintf(stream, "%9s  ", "");
}

static void write_row(FILE *stream, const struct diff *diff, const struct costs costs[SIDES],
                      uint64_t noise_ns, const char *name, const char *was)
{
    struct costs whole[SIDES];

    diff_whole(diff, whole);
    if (diff->counts)
        write_columns(stream, costs[BEFORE].calls, costs[AFTER].calls, 0, put_count);
    if (diff->has_times)
        write_columns(stream, costs[BEFORE].self_ns, costs[AFTER].self_ns, noise_ns, put_time);
    if (diff->has_instructions)
        write_columns(stream, costs[BEFORE].self_instructions, costs[AFTER].self_instructions, 0,
                      put_count);
    write_share(stream,
                change_of(diff_figure(&costs[BEFORE], diff->weight),
                          diff_figure(&costs[AFTER], diff->weight)),
                diff_figure(&whole[BEFORE], diff->weight));
    utf8_write_plain(stream, name);
    if (was && strcmp(was, name) != 0) {
        fputs(" (was ", stream);
        utf8_write_plain(stream, was);
        putc(')', stream);
    }
    putc('\n', stream);
}

enum kind { SAME, NOISE, CHANGED, VARIES, KINDS };

static enum kind kind_of(const struct diff *diff, const struct change *change)
{
    const struct costs *before = &change->costs[BEFORE], *after = &change->costs[AFTER];
    int64_t by = change_of(before->self_ns, after->self_ns);

    if (change->varies)
        return VARIES;
    if (diff->counts && !strcmp(diff->counts, "calls") && before->calls != after->calls)
        return CHANGED;
    if (diff->has_instructions && before->self_instructions != after->self_instructions)
        return CHANGED;
    if (!diff->has_times || by == 0)
        return SAME;
    return (uint64_t)(by < 0 ? -by : by) <= change->noise_ns ? NOISE : CHANGED;
}

static const char *share_heading(const struct diff *diff)
{
    switch (diff->weight) {
    case WEIGHT_CALLS:
        return "of calls";
    case WEIGHT_INSTRUCTIONS:
        return "of instr.";
    default:
        return diff->is_sampled ? "of CPU" : "of all";
    }
}

/* The contexts that changed most; all zero: none are known. */
struct contexts {
    struct diff_stacks both;
    uint32_t *largest; /* diff_stacks_largest */
};

static void contexts_begin(struct contexts *contexts, const struct diff *diff)
{
    *contexts = (struct contexts){0};
    if (diff->weight == WEIGHT_NS || !diff_has_stacks(diff))
        return;
    diff_stacks_begin(&contexts->both, diff);
    contexts->largest = diff_stacks_largest(&contexts->both, diff);
}

static void contexts_free(struct contexts *contexts)
{
    diff_stacks_free(&contexts->both);
    free(contexts->largest);
}

/* How far the function's context changed that changed most, with its frames; 0 if it has no
 * callers. */
static int64_t largest_context(const struct contexts *contexts, const struct diff *diff,
                               const struct change *change, struct stack_frames *frames)
{
    uint32_t stack = contexts->largest ? contexts->largest[diff->same[change->function]] : 0;

    if (!stack)
        return 0;
    stack_spell(&contexts->both.stacks, stack, frames);
    return frames->count > 1 ? diff_stack_change(&contexts->both, diff, stack) : 0;
}

static void write_frames(FILE *stream, const struct diff *diff, const struct stack_frames *frames,
                         size_t first)
{
    for (size_t i = first; i < frames->count; i++) {
        fputs(i > first ? " > " : "", stream);
        utf8_write_plain(stream, stack_frame_name(diff->images, frames->functions[i]));
    }
}

static void write_context(FILE *stream, const struct diff *diff, const struct contexts *contexts,
                          const struct change *change)
{
    struct stack_frames frames;
    int64_t by = largest_context(contexts, diff, change, &frames);
    char text[FIGURE_ROOM];
    size_t first;

    if (!by)
        return;
    first = frames.count > FRAMES_SHOWN ? frames.count - FRAMES_SHOWN : 0;
    fprintf(stream, "    %s%s in %s", by < 0 ? "-" : "+",
            figure_count(text, (uint64_t)(by < 0 ? -by : by)), first ? "… > " : "");
    write_frames(stream, diff, &frames, first);
    putc('\n', stream);
}

/* What it was called, or null: a baseline's function without a name is known by its code alone. */
static const char *name_before(const struct diff *diff, const struct change *change)
{
    const struct function *was = &diff->images->functions[change->was];

    return change->was && !diff->images->images[was->image].listed ? was->name : NULL;
}

static void write_changes(FILE *stream, const struct diff *diff, size_t top)
{
    struct contexts contexts;

    contexts_begin(&contexts, diff);
    for (size_t i = 0; i < diff->count && top; i++) {
        const struct change *change = &diff->changes[i];
        if (kind_of(diff, change) != CHANGED)
            continue;
        write_row(stream, diff, change->costs, change->noise_ns,
                  diff->images->functions[change->function].name, name_before(diff, change));
        write_context(stream, diff, &contexts, change);
        top--;
    }
    contexts_free(&contexts);
}

/* What is not judged, and how much that is. */
static void write_varying(FILE *stream, const struct diff *diff, size_t count)
{
    struct costs whole[SIDES];
    uint64_t figure = 0, all;

    diff_whole(diff, whole);
    all = diff_figure(&whole[BEFORE], diff->weight);
    for (size_t i = 0; i < diff->count; i++)
        if (diff->changes[i].varies)
            figure += diff_figure(&diff->changes[i].costs[BEFORE], diff->weight);
    fprintf(stream, "%zu that differ between runs of one build, which are not judged: %.2f%% %s\n",
            count, all ? (double)figure * 100 / (double)all : 0, share_heading(diff));
}

static void write_table(FILE *stream, const struct diff *diff, size_t top)
{
    struct costs whole[SIDES];
    size_t counts[KINDS] = {0};

    for (size_t i = 0; i < diff->count; i++)
        counts[kind_of(diff, &diff->changes[i])]++;
    if (diff->counts)
        fprintf(stream, "%8s %8s %9s  ", diff->counts, "after", "change");
    if (diff->has_times)
        fprintf(stream, "%8s %8s %9s  ", "self", "after", "change");
    if (diff->has_instructions)
        fprintf(stream, "%8s %8s %9s  ", "instr.", "after", "change");
    fprintf(stream, "%9s  %s\n", share_heading(diff), "function");
    write_changes(stream, diff, top);
    if (counts[CHANGED] > top)
        fprintf(stream, "%zu more that changed\n", counts[CHANGED] - top);
    if (counts[NOISE])
        fprintf(stream, "%zu whose times changed no more (~) than samples do by chance\n",
                counts[NOISE]);
    if (counts[VARIES])
        write_varying(stream, diff, counts[VARIES]);
    if (counts[SAME])
        fprintf(stream, "%zu that did not change\n", counts[SAME]);
    diff_whole(diff, whole);
    write_row(stream, diff, whole, diff_noise(diff, whole), "(all)", NULL);
}

static void write_cells(FILE *stream, uint64_t before, uint64_t after)
{
    fprintf(stream, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64, before, after,
            change_of(before, after));
}

static void write_context_cells(FILE *stream, const struct diff *diff,
                                const struct contexts *contexts, const struct change *change)
{
    struct stack_frames frames;
    int64_t by = largest_context(contexts, diff, change, &frames);
    char *text = NULL;
    size_t size;
    FILE *text_stream;

    if (!by) {
        fputs("\t\t", stream);
        return;
    }
    text_stream = memory_or_exit(open_memstream(&text, &size), sizeof(FILE));
    write_frames(text_stream, diff, &frames, 0);
    fclose(text_stream);
    putc('\t', stream);
    utf8_write_cell(stream, text);
    fprintf(stream, "\t%" PRId64, by);
    free(text);
}

static void write_tsv(FILE *stream, const struct diff *diff, size_t top)
{
    struct contexts contexts;

    (void)top;
    contexts_begin(&contexts, diff);
    fputs("function\tmodule\tcalls_before\tcalls_after\tcalls_change\tself_ns_before\t"
          "self_ns_after\tself_ns_change\ttotal_ns_before\ttotal_ns_after\ttotal_ns_change\t"
          "self_ns_noise",
          stream);
    if (diff->has_instructions)
        fputs("\tself_instructions_before\tself_instructions_after\tself_instructions_change\t"
              "total_instructions_before\ttotal_instructions_after\ttotal_instructions_change",
              stream);
    if (contexts.largest)
        fputs("\tcontext\tcontext_change", stream);
    if (diff->knows_noise)
        fputs("\tvaries", stream);
    putc('\n', stream);
    for (size_t i = 0; i < diff->count; i++) {
        const struct change *change = &diff->changes[i];
        const struct function *function = &diff->images->functions[change->function];
        const struct costs *before = &change->costs[BEFORE], *after = &change->costs[AFTER];
        utf8_write_cell(stream, function->name);
        putc('\t', stream);
        if (function->image)
            utf8_write_cell(stream, diff->images->images[function->image].path);
        if (diff->counts)
            write_cells(stream, before->calls, after->calls);
        else
            fputs("\t\t\t", stream);
        if (diff->has_times) {
            write_cells(stream, before->self_ns, after->self_ns);
            write_cells(stream, before->total_ns, after->total_ns);
        } else {
            fputs("\t\t\t\t\t\t", stream);
        }
        putc('\t', stream);
        if (diff->has_times && diff->is_sampled)
            fprintf(stream, "%" PRIu64, change->noise_ns);
        if (diff->has_instructions) {
            write_cells(stream, before->self_instructions, after->self_instructions);
            if (!diff->is_listed[BEFORE] && !diff->is_listed[AFTER])
                write_cells(stream, before->total_instructions, after->total_instructions);
            else
                fputs("\t\t\t", stream);
        }
        if (contexts.largest)
            write_context_cells(stream, diff, &contexts, change);
        if (diff->knows_noise)
            fprintf(stream, "\t%d", change->varies);
        putc('\n', stream);
    }
    contexts_free(&contexts);
}

static void write_folded(FILE *stream, const struct diff *diff, size_t top)
{
    struct diff_stacks both;

    (void)top;
    diff_stacks_begin(&both, diff);
    for (uint32_t i = 1; i < both.stacks.keys.count; i++) {
        uint64_t before = weight_of(diff->weight, &both.before[i]);
        uint64_t after = weight_of(diff->weight, &both.stacks.costs[i]);
        if (!before && !after)
            continue;
        folded_write_stack(stream, diff->images, &both.stacks, i);
        fprintf(stream, " %" PRIu64 " %" PRIu64 "\n", before, after);
    }
    diff_stacks_free(&both);
}

static void write_flamegraph(FILE *stream, const struct diff *diff, size_t top)
{
    const struct flame_figures figures = {
        .weight = diff->weight,
        .has_times = diff->has_times,
        .has_instructions = diff->has_instructions,
        .counts = "calls",
        .title = diff->weight == WEIGHT_NS      ? "What changed, by time"
                 : diff->weight == WEIGHT_CALLS ? "What changed, by calls"
                                                : "What changed, by instructions",
    };
    struct diff_stacks both;
    struct flame flame;

    (void)top;
    diff_stacks_begin(&both, diff);
    flame = (struct flame){.stacks = &both.stacks, .before = both.before};
    flamegraph_write_flames(stream, diff->images, &flame, 1, &figures);
    diff_stacks_free(&both);
}

static const struct diff_format formats_of_diff[] = {
    {"table", false, true, write_table},  {"tsv", false, true, write_tsv},
    {"folded", true, true, write_folded}, {"flamegraph", true, true, write_flamegraph},
    {NULL, false, false, NULL},
};

const struct diff_format *diff_format_named(const char *name, bool to_terminal)
{
    if (!name)
        name = to_terminal ? "table" : "tsv";
    for (const struct diff_format *format = formats_of_diff; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}
