/*
 * A flame graph: one SVG with its own script, which any browser opens without a network.
 *
 *      ┌───────────────────────────┐
 *      │ all                       │   a frame is as wide as its stack and all below it cost
 *      ├───────────────────────────┤
 *      │ fib 4711: main            │   parts that are not merged
 *      ├─────────────────────────┬─┘
 *      │ main                    │
 *      ├──────────────┬─┬────┬───┘
 *      │ fib          │ │ g  │
 *      └──────────────┘ └────┘
 *
 * The root is at the top, where a browser begins to show it: stacks may be STACK_DEPTH frames deep.
 * Siblings are in the order of their names. Frames narrower than 1/NARROWEST of the whole are left
 * out, and counted: at most NARROWEST frames a level are drawn, however large the profile is. The
 * frames are there without the script, too; that (flamegraph.js) zooms, searches and fits names.
 *
 * In a graph of changes widths are those of the later recording; colours say by what share of
 * itself a frame grew (red) or shrank (blue).
 */
#include "grinder/formats/flamegraph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/formats/part_name.h"
#include "support/memory.h"
#include "support/utf8.h"

#define NARROWEST    10000
#define ROW          17   /* pixels */
#define TOP          72   /* above the frames */
#define BOTTOM       10   /* below them */
#define WIDTH        1200 /* until the script knows better */
#define LETTER_WIDTH 7

extern const char flamegraph_script[]; /* flamegraph_script.S */

struct totals {
    struct stack_cost now, before;
};

/* A flame, laid out. */
struct layout {
    const struct flame *flame;
    struct totals *totals; /* by stack, with all above it; [0] is the whole flame's */
    uint32_t *order;       /* stacks by parent, then name */
    uint32_t *children;    /* by stack: place in order of its first child; one more at the end */
};

struct drawing {
    FILE *stream; /* null: only count */
    const struct images *images;
    struct flame_figures figures;
    bool is_difference;
    uint64_t whole; /* weight */
    unsigned levels;
    uint64_t left_out;
};

static void add_totals(struct totals *sum, const struct totals *totals)
{
    stack_cost_add(&sum->now, &totals->now);
    stack_cost_add(&sum->before, &totals->before);
}

struct by_name {
    const struct stack_tree *stacks;
    const struct images *images;
};

static int compare_stacks(const void *left, const void *right, void *user)
{
    const struct by_name *by = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    uint32_t a_parent = stack_parent(by->stacks, a), b_parent = stack_parent(by->stacks, b);
    int order;

    if (a_parent != b_parent)
        return a_parent < b_parent ? -1 : 1;
    order = strcmp(stack_frame_name(by->images, stack_function(by->stacks, a)),
                   stack_frame_name(by->images, stack_function(by->stacks, b)));
    if (order)
        return order;
    return (a > b) - (a < b);
}

static void order_children(struct layout *layout, const struct images *images, size_t count)
{
    struct by_name by = {layout->flame->stacks, images};
    uint32_t place = 0;

    layout->order = memory_zeroed(count, sizeof(*layout->order));
    layout->children = memory_zeroed(count + 1, sizeof(*layout->children));
    for (size_t i = 1; i < count; i++)
        layout->order[i - 1] = (uint32_t)i;
    if (count > 1)
        qsort_r(layout->order, count - 1, sizeof(*layout->order), compare_stacks, &by);
    for (size_t parent = 0; parent <= count; parent++) {
        layout->children[parent] = place;
        while (count && place < count - 1 &&
               stack_parent(layout->flame->stacks, layout->order[place]) == parent)
            place++;
    }
}

/* Stacks are numbered after their parents: from the last to the first, all above are summed up. */
static void lay_out(struct layout *layout, const struct flame *flame, const struct images *images)
{
    const struct stack_tree *stacks = flame->stacks;
    size_t count = stacks->keys.count;

    layout->flame = flame;
    layout->totals = memory_zeroed(count, sizeof(*layout->totals));
    for (size_t i = count; i > 1; i--) {
        struct totals *totals = &layout->totals[i - 1];
        stack_cost_add(&totals->now, &stacks->costs[i - 1]);
        if (flame->before)
            stack_cost_add(&totals->before, &flame->before[i - 1]);
        add_totals(&layout->totals[stack_parent(stacks, (uint32_t)i - 1)], totals);
    }
    order_children(layout, images, count);
}

static void free_layout(struct layout *layout)
{
    free(layout->totals);
    free(layout->order);
    free(layout->children);
}

/* "12.34", in percent; digits behind the point. */
static void write_percent(FILE *stream, uint64_t part, uint64_t whole, int digits)
{
    uint64_t scale = digits == 2 ? 100 : 1000000;
    uint64_t value = 0;

    if (whole)
        value = (uint64_t)((unsigned __int128)part * 100 * scale / whole);
    fprintf(stream, "%" PRIu64 ".%0*" PRIu64, value / scale, digits, value % scale);
}

/* A warm colour that the name alone decides. */
static void write_warm_colour(FILE *stream, const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    fprintf(stream, "#%02x%02x%02x", 205 + hash % 50, 90 + (hash >> 8) % 130,
            (hash >> 16) % 55 + 20);
}

static void write_change_colour(FILE *stream, uint64_t now, uint64_t before)
{
    uint64_t more = now > before ? now - before : before - now;
    uint64_t whole = now > before ? now : before;
    unsigned pale = 235;

    if (whole)
        pale -= (unsigned)((unsigned __int128)more * 155 / whole);
    if (now >= before)
        fprintf(stream, "#eb%02x%02x", pale, pale);
    else
        fprintf(stream, "#%02x%02xeb", pale, pale);
}

static void write_figures(const struct drawing *drawing, const char *what,
                          const struct stack_cost *cost)
{
    fputs(what, drawing->stream);
    if (drawing->figures.has_times)
        fprintf(drawing->stream, "%" PRIu64 " ns, ", cost->self_ns);
    if (drawing->figures.has_instructions)
        fprintf(drawing->stream, "%" PRIu64 " instructions, ", cost->instructions);
    fprintf(drawing->stream, "%" PRIu64 " %s", cost->calls, drawing->figures.counts);
}

static void write_tooltip(const struct drawing *drawing, const char *name,
                          const struct totals *totals, const struct stack_cost *self)
{
    uint64_t weight = weight_of(drawing->figures.weight, &totals->now);
    FILE *stream = drawing->stream;

    fputs("<title>", stream);
    utf8_write_xml(stream, name);
    write_figures(drawing, "\n", &totals->now);
    fputs(" (", stream);
    write_percent(stream, weight, drawing->whole, 2);
    fputs("%)", stream);
    if (self)
        write_figures(drawing, "\nitself ", self);
    if (drawing->is_difference)
        write_figures(drawing, "\nbefore ", &totals->before);
    fputs("</title>", stream);
}

/* Writes as much of a name as fits into the frame at WIDTH. */
static void write_label(const struct drawing *drawing, const char *name, uint64_t weight)
{
    char *label = memory_copy_utf8(name);
    uint64_t room = (uint64_t)((unsigned __int128)weight * WIDTH / drawing->whole) / LETTER_WIDTH;

    if (room < 3)
        *label = 0;
    else if (strlen(label) > room)
        strcpy(label + room - 2, "..");
    utf8_write_xml(drawing->stream, label);
    free(label);
}

/* Draws a frame that begins at `at`, level frames below the top; false if it is left out. self
   may be null. */
static bool draw_frame(struct drawing *drawing, const char *name, const struct totals *totals,
                       const struct stack_cost *self, uint64_t at, unsigned level)
{
    uint64_t weight = weight_of(drawing->figures.weight, &totals->now);
    unsigned y = TOP + level * ROW;
    FILE *stream = drawing->stream;

    if (!weight || (unsigned __int128)weight * NARROWEST < drawing->whole) {
        drawing->left_out++;
        return false;
    }
    if (level >= drawing->levels)
        drawing->levels = level + 1;
    if (!stream)
        return true;
    fputs("<g>", stream);
    write_tooltip(drawing, name, totals, self);
    fputs("<rect x=\"", stream);
    write_percent(stream, at, drawing->whole, 6);
    fprintf(stream, "%%\" y=\"%u\" width=\"", y);
    write_percent(stream, weight, drawing->whole, 6);
    fprintf(stream, "%%\" height=\"%u\" fill=\"", ROW - 1);
    if (drawing->is_difference)
        write_change_colour(stream, weight, weight_of(drawing->figures.weight, &totals->before));
    else
        write_warm_colour(stream, name);
    fputs("\"/><text x=\"", stream);
    write_percent(stream, at, drawing->whole, 6);
    fprintf(stream, "%%\" dx=\"3\" y=\"%u\">", y + 12);
    write_label(drawing, name, weight);
    fputs("</text></g>\n", stream);
    return true;
}

/* Recursion ends at STACK_DEPTH. */
static void draw_children(struct drawing *drawing, const struct layout *layout, uint32_t stack,
                          uint64_t at, unsigned level)
{
    const struct stack_tree *stacks = layout->flame->stacks;

    for (uint32_t i = layout->children[stack]; i < layout->children[stack + 1]; i++) {
        uint32_t child = layout->order[i];
        const struct totals *totals = &layout->totals[child];
        if (draw_frame(drawing, stack_frame_name(drawing->images, stack_function(stacks, child)),
                       totals, &stacks->costs[child], at, level))
            draw_children(drawing, layout, child, at, level + 1);
        at += weight_of(drawing->figures.weight, &totals->now);
    }
}

static void draw_flames(struct drawing *drawing, const struct layout *layouts, size_t count,
                        const struct totals *all)
{
    uint64_t at = 0;

    drawing->left_out = 0;
    if (!draw_frame(drawing, "all", all, NULL, 0, 0))
        return;
    for (size_t i = 0; i < count; i++) {
        const struct layout *layout = &layouts[i];
        const char *name = layout->flame->name;
        if (!layout->flame->stacks->keys.count)
            continue;
        if (!name)
            draw_children(drawing, layout, 0, at, 1);
        else if (draw_frame(drawing, name, &layout->totals[0], NULL, at, 1))
            draw_children(drawing, layout, 0, at, 2);
        at += weight_of(drawing->figures.weight, &layout->totals[0].now);
    }
}

static void write_head(const struct drawing *drawing, const char *title)
{
    FILE *stream = drawing->stream;
    unsigned height = TOP + drawing->levels * ROW + BOTTOM;

    fprintf(stream,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" height=\"%u\" "
            "class=\"flamegraph\">\n<title>",
            height);
    utf8_write_xml(stream, title);
    fputs("</title>\n<style>\n"
          "svg { font: 12px monospace; background: #fff; fill: #222 }\n"
          "#title { font: 16px sans-serif }\n"
          "#frames g { cursor: pointer } #frames text { pointer-events: none; fill: #111 }\n"
          "#frames g:hover rect { stroke: #000 } #frames g.above { opacity: .5 }\n"
          "#frames g.found rect { fill: #c4f } .button { cursor: pointer; fill: #36c }\n"
          "@media (prefers-color-scheme: dark) {\n"
          "svg { background: #1c1c1e; fill: #ddd } .button { fill: #8bf } }\n"
          "</style>\n<text id=\"title\" x=\"10\" y=\"22\">",
          stream);
    utf8_write_xml(stream, title);
    fprintf(stream,
            "</text>\n<text id=\"search\" class=\"button\" x=\"10\" y=\"42\">Search</text>\n"
            "<text id=\"reset\" class=\"button\" x=\"70\" y=\"42\">Reset zoom</text>\n"
            "<text id=\"matched\" x=\"160\" y=\"42\"></text>\n"
            "<text id=\"details\" x=\"10\" y=\"62\">%" PRIu64
            " frames narrower than 1/%d are not shown</text>\n<g id=\"frames\">\n",
            drawing->left_out, NARROWEST);
}

void flamegraph_write_flames(FILE *stream, const struct images *images, const struct flame *flames,
                             size_t count, const struct flame_figures *figures)
{
    struct drawing drawing = {.images = images, .figures = *figures};
    struct layout *layouts = memory_zeroed(count, sizeof(*layouts));
    struct totals all = {0};

    for (size_t i = 0; i < count; i++) {
        lay_out(&layouts[i], &flames[i], images);
        add_totals(&all, &layouts[i].totals[0]);
        drawing.is_difference = flames[i].before != NULL;
    }
    drawing.whole = weight_of(figures->weight, &all.now);
    draw_flames(&drawing, layouts, count, &all);
    drawing.stream = stream;
    write_head(&drawing, figures->title);
    draw_flames(&drawing, layouts, count, &all);
    fprintf(stream, "</g>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", flamegraph_script);
    for (size_t i = 0; i < count; i++)
        free_layout(&layouts[i]);
    free(layouts);
}

static const char *weight_name(const struct profile *profile, enum weight weight)
{
    switch (weight) {
    case WEIGHT_CALLS:
        return profile_counts(profile);
    case WEIGHT_INSTRUCTIONS:
        return "instructions";
    default:
        return profile_is_sampled(profile) ? "CPU time" : "time";
    }
}

void flamegraph_write(FILE *stream, const struct view *view)
{
    const struct profile *profile = view->profile;
    struct flame *flames = memory_zeroed(view->count, sizeof(*flames));
    char(*names)[PART_NAME_SIZE] = memory_zeroed(view->count, sizeof(*names));
    char title[PART_NAME_SIZE];
    const struct flame_figures figures = {
        .weight = view->weight,
        .has_times = profile_has_times(profile),
        .has_instructions = profile_has_instructions(profile),
        .counts = profile_counts(profile),
        .title = title,
    };

    for (size_t i = 0; i < view->count; i++) {
        const struct part *part = &profile->parts[view->first + i];
        part_name(names[i], profile, part);
        flames[i] =
            (struct flame){.stacks = &part->stacks, .name = profile->merged ? NULL : names[i]};
    }
    snprintf(title, sizeof(title), "%.400s by %s", profile->processes[0].header.command,
             weight_name(profile, view->weight));
    flamegraph_write_flames(stream, view->images, flames, view->count, &figures);
    free(flames);
    free(names);
}
