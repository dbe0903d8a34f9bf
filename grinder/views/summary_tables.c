#include "grinder/views/summary_tables.h"

#include <stdlib.h>
#include <string.h>

#include "grinder/views/fit.h"

#define HOT_PERCENT    10  /* of the whole: shown in colour */
#define MODULE_FROM    120 /* columns of a terminal that has room for functions' modules */
#define MEAN_FROM      72  /* that of means of calls */
#define MODULE_COLUMNS 28

/* A time with what its samples say of it. */
struct time_of {
    struct figure ns;
    bool is_unmet; /* no sample met it: ns.high alone is known */
};

static struct time_of time_of(const struct summary_layout *layout, uint64_t ns, uint64_t samples)
{
    struct time_of time = {.ns = figure_exact((double)ns)};
    struct sample_range range;

    if (!layout->is_sampled)
        return time;
    range = part_range(layout->part, ns, samples);
    time.ns.low = (double)range.low_ns;
    time.ns.high = (double)range.high_ns;
    time.is_unmet = !samples && !ns;
    return time;
}

static struct time_of self_of(const struct summary_layout *layout, const struct costs *costs)
{
    return time_of(layout, costs->self_ns, costs->samples);
}

static struct time_of inclusive_of(const struct summary_layout *layout, const struct costs *costs)
{
    return time_of(layout, costs->total_ns, costs->total_samples);
}

static struct time_of scaled(struct time_of time, double scale)
{
    time.ns.value *= scale;
    time.ns.low *= scale;
    time.ns.high *= scale;
    return time;
}

static void put_time(char text[FIGURE_ROOM], struct time_of time)
{
    if (time.is_unmet)
        figure_time_below(text, time.ns.high);
    else
        figure_time(text, time.ns);
}

static void put_share(char text[FIGURE_ROOM], const struct summary_layout *layout,
                      struct time_of time)
{
    time = scaled(time, layout->part->ns ? 100 / (double)layout->part->ns : 0);
    if (time.is_unmet)
        figure_share_below(text, time.ns.high);
    else
        figure_share(text, time.ns);
}

static void put_each(char text[FIGURE_ROOM], struct time_of time, uint64_t calls)
{
    if (calls)
        put_time(text, scaled(time, 1 / (double)calls));
    else
        strcpy(text, "-");
}

typedef void write_cell(char text[FIGURE_ROOM], const struct summary_layout *layout,
                        const struct costs *costs);

static void put_self(char text[FIGURE_ROOM], const struct summary_layout *layout,
                     const struct costs *costs)
{
    put_time(text, self_of(layout, costs));
}

static void put_self_share(char text[FIGURE_ROOM], const struct summary_layout *layout,
                           const struct costs *costs)
{
    put_share(text, layout, self_of(layout, costs));
}

static void put_self_each(char text[FIGURE_ROOM], const struct summary_layout *layout,
                          const struct costs *costs)
{
    put_each(text, self_of(layout, costs), costs->calls);
}

static void put_inclusive(char text[FIGURE_ROOM], const struct summary_layout *layout,
                          const struct costs *costs)
{
    put_time(text, inclusive_of(layout, costs));
}

static void put_inclusive_share(char text[FIGURE_ROOM], const struct summary_layout *layout,
                                const struct costs *costs)
{
    put_share(text, layout, inclusive_of(layout, costs));
}

static void put_inclusive_each(char text[FIGURE_ROOM], const struct summary_layout *layout,
                               const struct costs *costs)
{
    put_each(text, inclusive_of(layout, costs), costs->calls);
}

static void put_calls(char text[FIGURE_ROOM], const struct summary_layout *layout,
                      const struct costs *costs)
{
    (void)layout;
    figure_count(text, costs->calls);
}

/* Of a function that has more. */
static void put_least_calls(char text[FIGURE_ROOM], const struct costs *costs)
{
    char count[FIGURE_ROOM];

    snprintf(text, FIGURE_ROOM, ">%.*s", FIGURE_ROOM - 2, figure_count(count, costs->calls));
}

static void put_share_of(char text[FIGURE_ROOM], uint64_t number, uint64_t all)
{
    figure_share(text, figure_exact(all ? 100 * (double)number / (double)all : 0));
}

static void put_call_share(char text[FIGURE_ROOM], const struct summary_layout *layout,
                           const struct costs *costs)
{
    put_share_of(text, costs->calls, layout->part->calls);
}

static void put_waited(char text[FIGURE_ROOM], const struct summary_layout *layout,
                       const struct costs *costs)
{
    (void)layout;
    figure_time(text, figure_exact((double)costs->wait.self_ns));
}

static void put_waits(char text[FIGURE_ROOM], const struct summary_layout *layout,
                      const struct costs *costs)
{
    (void)layout;
    figure_count(text, costs->wait.count);
}

static void put_longest(char text[FIGURE_ROOM], const struct summary_layout *layout,
                        const struct costs *costs)
{
    (void)layout;
    figure_time(text, figure_exact((double)costs->wait.longest_ns));
}

static void put_inclusive_wait(char text[FIGURE_ROOM], const struct summary_layout *layout,
                               const struct costs *costs)
{
    (void)layout;
    figure_time(text, figure_exact((double)costs->wait.total_ns));
}

static void put_instructions(char text[FIGURE_ROOM], const struct summary_layout *layout,
                             const struct costs *costs)
{
    (void)layout;
    figure_count(text, costs->self_instructions);
}

static void put_instructions_share(char text[FIGURE_ROOM], const struct summary_layout *layout,
                                   const struct costs *costs)
{
    put_share_of(text, costs->self_instructions, layout->part->instructions);
}

static void put_inclusive_instructions(char text[FIGURE_ROOM], const struct summary_layout *layout,
                                       const struct costs *costs)
{
    (void)layout;
    figure_count(text, costs->total_instructions);
}

static void put_inclusive_instructions_share(char text[FIGURE_ROOM],
                                             const struct summary_layout *layout,
                                             const struct costs *costs)
{
    put_share_of(text, costs->total_instructions, layout->part->instructions);
}

static void put_instructions_each(char text[FIGURE_ROOM], const struct summary_layout *layout,
                                  const struct costs *costs)
{
    (void)layout;
    if (costs->calls)
        figure_count(text, costs->self_instructions / costs->calls);
    else
        strcpy(text, "-");
}

struct column {
    const char *heading;
    int width;
    size_t from; /* columns that a terminal must have to show it */
    write_cell *put;
};

struct table {
    const char *heading;
    const struct column *columns; /* up to a null heading */
};

#define LAST                                                                                       \
    {                                                                                              \
        NULL, 0, 0, NULL                                                                           \
    }

static const struct column of_self[] = {
    {"self", 8, 0, put_self},
    {"self%", 6, 0, put_self_share},
    {"incl%", 6, 0, put_inclusive_share},
    {"calls", 8, 0, put_calls},
    {"a call", 9, 72, put_self_each},
    {"inclusive", 9, 100, put_inclusive},
    LAST,
};

static const struct column of_inclusive[] = {
    {"inclusive", 9, 0, put_inclusive},
    {"incl%", 6, 0, put_inclusive_share},
    {"self%", 6, 0, put_self_share},
    {"calls", 8, 0, put_calls},
    {"a call", 9, 72, put_inclusive_each},
    {"self", 8, 100, put_self},
    LAST,
};

static const struct column of_calls[] = {
    {"calls", 8, 0, put_calls},
    {"calls%", 6, 0, put_call_share},
    LAST,
};

static const struct column of_timed_calls[] = {
    {"calls", 8, 0, put_calls},
    {"calls%", 6, 0, put_call_share},
    {"self%", 6, 0, put_self_share},
    {"incl%", 6, 0, put_inclusive_share},
    {"a call", 9, 72, put_self_each},
    {"self", 8, 100, put_self},
    LAST,
};

static const struct column of_waits[] = {
    {"waited", 8, 0, put_waited},   {"waits", 8, 0, put_waits},
    {"longest", 8, 0, put_longest}, {"inclusive", 9, 72, put_inclusive_wait},
    {"calls", 8, 100, put_calls},   LAST,
};

static const struct column of_instructions[] = {
    {"instr.", 8, 0, put_instructions},
    {"self%", 6, 0, put_instructions_share},
    {"incl%", 6, 0, put_inclusive_instructions_share},
    {"calls", 8, 0, put_calls},
    {"a call", 9, 72, put_instructions_each},
    {"inclusive", 9, 100, put_inclusive_instructions},
    LAST,
};

static struct table table_of(const struct summary_layout *layout, enum hot_order order)
{
    bool is_sampled = layout->is_sampled;

    switch (order) {
    case HOT_SELF:
        return (struct table){is_sampled ? "Hottest functions by self time (CPU)"
                                         : "Hottest functions by self time",
                              of_self};
    case HOT_INCLUSIVE:
        return (struct table){is_sampled ? "Hottest functions by inclusive time (CPU)"
                                         : "Hottest functions by inclusive time",
                              of_inclusive};
    case HOT_CALLS:
        return (struct table){profile_is_stacked(layout->summary->profile) ? "Functions by samples"
                                                                           : "Functions by calls",
                              layout->has_times ? of_timed_calls : of_calls};
    case HOT_INSTRUCTIONS:
        return (struct table){"Functions by instructions", of_instructions};
    default:
        return (struct table){"Functions by time waited", of_waits};
    }
}

/* Whether the share it shows is one to look at. */
static bool is_hot(const struct summary_layout *layout, const struct column *column,
                   const struct costs *costs)
{
    double all = (double)layout->part->ns;

    return (column->put == put_self_share && (double)costs->self_ns * 100 >= all * HOT_PERCENT &&
            costs->self_ns) ||
           (column->put == put_inclusive_share &&
            (double)costs->total_ns * 100 >= all * HOT_PERCENT && costs->total_ns);
}

static bool is_of_each_call(const struct column *column)
{
    return column->put == put_self_each || column->put == put_inclusive_each;
}

/* Writes a row, or the headings, if costs is null. Returns the columns used. */
static size_t write_cells(const struct summary_layout *layout, const struct column *columns,
                          const struct costs *costs, bool has_more_calls)
{
    bool is_stacked = profile_is_stacked(layout->summary->profile);
    size_t used = 0;

    for (const struct column *column = columns; column->heading; column++) {
        char text[FIGURE_ROOM], cell[FIGURE_ROOM];
        if (layout->columns < column->from || (is_stacked && is_of_each_call(column)))
            continue;
        if (costs && column->put == put_calls && has_more_calls)
            put_least_calls(text, costs);
        else if (costs)
            column->put(text, layout, costs);
        snprintf(cell, sizeof(cell), "%*s", column->width,
                 costs                                         ? text
                 : is_stacked && column->put == put_calls      ? "samples"
                 : is_stacked && column->put == put_call_share ? "smpl%"
                                                               : column->heading);
        if (costs && is_hot(layout, column, costs))
            layout_write_in(layout, LAYOUT_RED, cell);
        else
            fputs(cell, layout->stream);
        putc(' ', layout->stream);
        used += strlen(cell) + 1;
    }
    putc(' ', layout->stream);
    return used + 1;
}

/* The columns that names take, before those of the modules: 0 where there is no room for these. */
static size_t name_columns(const struct summary_layout *layout, size_t used,
                           const struct hottest *hottest, size_t count)
{
    size_t columns = strlen("function");

    if (layout->columns < MODULE_FROM)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t function = hottest->functions[i].function;
        size_t name = fit_columns(layout->summary->images->functions[function].name);
        columns = name > columns ? name : columns;
    }
    used += MODULE_COLUMNS + 2;
    return columns < layout->columns - used ? columns : layout->columns - used;
}

static void write_name(const struct summary_layout *layout, size_t used, size_t columns,
                       const char *name, const char *module)
{
    char *cut;

    if (!columns) {
        layout_write_rest(layout, used, name);
        return;
    }
    cut = fit_cut(name, columns, layout->ellipsis);
    fprintf(layout->stream, "%s%*s  ", cut, (int)(columns - fit_columns(cut)), "");
    layout_write_rest(layout, used + columns + 2, module);
    free(cut);
}

/* How many of the sorted functions are shown: none that did not wait among those that did. */
static size_t shown_count(const struct summary_layout *layout, const struct hottest *hottest,
                          enum hot_order order)
{
    size_t top = layout->summary->top;
    size_t count = 0;

    while (count < hottest->count && count < top &&
           (order != HOT_WAIT || hottest->functions[count].costs.wait.self_ns))
        count++;
    return count;
}

static void write_table(const struct summary_layout *layout, const struct hottest *hottest,
                        enum hot_order order)
{
    const struct images *images = layout->summary->images;
    const struct table table = table_of(layout, order);
    size_t count, used, columns;

    hottest_sort(hottest, order);
    count = shown_count(layout, hottest, order);
    layout_write_heading(layout, table.heading);
    used = write_cells(layout, table.columns, NULL, false);
    columns = name_columns(layout, used, hottest, count);
    write_name(layout, used, columns, "function", "module");
    for (size_t i = 0; i < count; i++) {
        const struct hot *hot = &hottest->functions[i];
        const struct function *function = &images->functions[hot->function];
        write_cells(layout, table.columns, &hot->costs, function->has_more_calls);
        write_name(layout, used, columns, function->name,
                   function->image ? image_name(&images->images[function->image]) : "");
    }
}

/* Inclusive waits are a column of the table of waits. */
static void write_all(const struct summary_layout *layout)
{
    struct hottest hottest = hottest_of(layout->part);
    enum hot_order orders[HOT_ORDERS];
    size_t count = summary_orders(layout->summary, layout->part, orders);

    for (size_t i = 0; i < count; i++)
        if (orders[i] != HOT_INCLUSIVE_WAIT)
            write_table(layout, &hottest, orders[i]);
    hottest_free(&hottest);
}

/* --- functions whose calls were timed each --- */

static void put_quantile(char text[FIGURE_ROOM], const struct call_times *times, size_t number)
{
    double share = call_times_quantiles[number].share;

    figure_time(text, figure_exact((double)call_times_quantile_ns(times, share)));
}

static void write_times(const struct summary_layout *layout)
{
    const struct call_times_list *list = &layout->part->times;
    const struct call_times **slowest;
    char text[FIGURE_ROOM];
    int used;

    if (!list->count)
        return;
    slowest = call_times_slowest(list);
    layout_write_heading(layout, "Times of calls, of functions whose calls were timed each");
    fprintf(layout->stream, "%8s", "calls");
    if (layout->columns >= MEAN_FROM)
        fprintf(layout->stream, " %7s", "mean");
    for (size_t i = 0; i < CALL_TIMES_QUANTILES; i++)
        fprintf(layout->stream, " %7s", call_times_quantiles[i].name);
    fprintf(layout->stream, " %7s  function\n", "longest");
    for (size_t i = 0; i < list->count; i++) {
        const struct call_times *times = slowest[i];
        used = fprintf(layout->stream, "%8s", figure_count(text, times->calls));
        figure_time(text, figure_exact((double)call_times_mean_ns(times)));
        if (layout->columns >= MEAN_FROM)
            used += fprintf(layout->stream, " %7s", text);
        for (size_t j = 0; j < CALL_TIMES_QUANTILES; j++) {
            put_quantile(text, times, j);
            used += fprintf(layout->stream, " %7s", text);
        }
        used +=
            fprintf(layout->stream, " %7s  ", figure_time(text, figure_exact(times->longest_ns)));
        layout_write_rest(layout, (size_t)used,
                          layout->summary->images->functions[times->function].name);
    }
    free(slowest);
}

void summary_tables_write(const struct summary_layout *layout)
{
    write_all(layout);
    write_times(layout);
}
