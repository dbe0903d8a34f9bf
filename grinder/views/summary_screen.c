#include "grinder/views/summary_screen.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/events/event_summary.h"
#include "grinder/views/figures.h"
#include "grinder/views/fit.h"
#include "grinder/views/process_facts.h"
#include "grinder/views/process_tree.h"
#include "support/memory.h"

#define BOLD   "\033[1m"
#define RED    "\033[31m"
#define NORMAL "\033[0m"

#define HOT_PERCENT    10  /* of the whole: shown in colour */
#define MODULE_FROM    120 /* columns of a terminal that has room for functions' modules */
#define MODULE_COLUMNS 28
#define EVENT_COLUMNS  130 /* of the event summary's table */
#define LABEL_COLUMNS  12  /* left of the text of a detail */

/* Where the summary is written, and how. */
struct screen {
    FILE *stream;
    const struct summary *summary;
    const struct part *part;
    size_t columns;
    const char *ellipsis;
    bool has_colour, has_times, is_sampled;
};

static void write_in(const struct screen *screen, const char *colour, const char *text)
{
    if (screen->has_colour)
        fprintf(screen->stream, "%s%s" NORMAL, colour, text);
    else
        fputs(text, screen->stream);
}

static void write_heading(const struct screen *screen, const char *heading)
{
    char *cut = fit_cut(heading, screen->columns, screen->ellipsis);

    putc('\n', screen->stream);
    write_in(screen, BOLD, cut);
    putc('\n', screen->stream);
    free(cut);
}

/* What is left of the line for text; ends it. */
static void write_rest(const struct screen *screen, size_t used, const char *text)
{
    char *cut =
        fit_cut(text, screen->columns > used ? screen->columns - used : 1, screen->ellipsis);

    fprintf(screen->stream, "%s\n", cut);
    free(cut);
}

/* --- tables of functions --- */

/* A time with what its samples say of it. */
struct time_of {
    struct figure ns;
    bool is_unmet; /* no sample met it: ns.high alone is known */
};

static struct time_of time_of(const struct screen *screen, uint64_t ns, uint64_t samples)
{
    struct time_of time = {.ns = figure_exact((double)ns)};
    struct sample_range range;

    if (!screen->is_sampled)
        return time;
    range = part_range(screen->part, ns, samples);
    time.ns.low = (double)range.low_ns;
    time.ns.high = (double)range.high_ns;
    time.is_unmet = !samples && !ns;
    return time;
}

/* Of a process or a thread: samples come at fixed intervals, so that as much as one of them is not
   known. */
static void put_total(char text[FIGURE_ROOM], const struct screen *screen, uint64_t ns)
{
    const struct part *part = screen->part;
    const double one =
        screen->is_sampled && part->samples ? (double)part->ns / (double)part->samples : 0;
    struct figure figure = figure_exact((double)ns);

    figure.low -= one;
    figure.high += one;
    if (screen->is_sampled && !ns)
        figure_time_below(text, one);
    else
        figure_time(text, figure);
}

static struct time_of self_of(const struct screen *screen, const struct costs *costs)
{
    return time_of(screen, costs->self_ns, costs->samples);
}

static struct time_of inclusive_of(const struct screen *screen, const struct costs *costs)
{
    return time_of(screen, costs->total_ns, costs->total_samples);
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

static void put_share(char text[FIGURE_ROOM], const struct screen *screen, struct time_of time)
{
    time = scaled(time, screen->part->ns ? 100 / (double)screen->part->ns : 0);
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

typedef void write_cell(char text[FIGURE_ROOM], const struct screen *screen,
                        const struct costs *costs);

static void put_self(char text[FIGURE_ROOM], const struct screen *screen, const struct costs *costs)
{
    put_time(text, self_of(screen, costs));
}

static void put_self_share(char text[FIGURE_ROOM], const struct screen *screen,
                           const struct costs *costs)
{
    put_share(text, screen, self_of(screen, costs));
}

static void put_self_each(char text[FIGURE_ROOM], const struct screen *screen,
                          const struct costs *costs)
{
    put_each(text, self_of(screen, costs), costs->calls);
}

static void put_inclusive(char text[FIGURE_ROOM], const struct screen *screen,
                          const struct costs *costs)
{
    put_time(text, inclusive_of(screen, costs));
}

static void put_inclusive_share(char text[FIGURE_ROOM], const struct screen *screen,
                                const struct costs *costs)
{
    put_share(text, screen, inclusive_of(screen, costs));
}

static void put_inclusive_each(char text[FIGURE_ROOM], const struct screen *screen,
                               const struct costs *costs)
{
    put_each(text, inclusive_of(screen, costs), costs->calls);
}

static void put_calls(char text[FIGURE_ROOM], const struct screen *screen,
                      const struct costs *costs)
{
    (void)screen;
    figure_count(text, costs->calls);
}

static void put_call_share(char text[FIGURE_ROOM], const struct screen *screen,
                           const struct costs *costs)
{
    const double all = (double)screen->part->calls;

    figure_share(text, figure_exact(all > 0 ? 100 * (double)costs->calls / all : 0));
}

static void put_waited(char text[FIGURE_ROOM], const struct screen *screen,
                       const struct costs *costs)
{
    (void)screen;
    figure_time(text, figure_exact((double)costs->wait.self_ns));
}

static void put_waits(char text[FIGURE_ROOM], const struct screen *screen,
                      const struct costs *costs)
{
    (void)screen;
    figure_count(text, costs->wait.count);
}

static void put_longest(char text[FIGURE_ROOM], const struct screen *screen,
                        const struct costs *costs)
{
    (void)screen;
    figure_time(text, figure_exact((double)costs->wait.longest_ns));
}

static void put_inclusive_wait(char text[FIGURE_ROOM], const struct screen *screen,
                               const struct costs *costs)
{
    (void)screen;
    figure_time(text, figure_exact((double)costs->wait.total_ns));
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

static struct table table_of(const struct screen *screen, enum hot_order order)
{
    const bool is_sampled = screen->is_sampled;

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
        return (struct table){"Functions by calls", screen->has_times ? of_timed_calls : of_calls};
    default:
        return (struct table){"Functions by time waited", of_waits};
    }
}

/* Whether the share it shows is one to look at. */
static bool is_hot(const struct screen *screen, const struct column *column,
                   const struct costs *costs)
{
    const double all = (double)screen->part->ns;

    return (column->put == put_self_share && (double)costs->self_ns * 100 >= all * HOT_PERCENT &&
            costs->self_ns) ||
           (column->put == put_inclusive_share &&
            (double)costs->total_ns * 100 >= all * HOT_PERCENT && costs->total_ns);
}

/* Of the headings, if costs is null. Returns the columns used. */
static size_t write_cells(const struct screen *screen, const struct column *columns,
                          const struct costs *costs)
{
    size_t used = 0;

    for (const struct column *column = columns; column->heading; column++) {
        char text[FIGURE_ROOM], cell[FIGURE_ROOM];
        if (screen->columns < column->from)
            continue;
        if (costs)
            column->put(text, screen, costs);
        snprintf(cell, sizeof(cell), "%*s", column->width, costs ? text : column->heading);
        if (costs && is_hot(screen, column, costs))
            write_in(screen, RED, cell);
        else
            fputs(cell, screen->stream);
        putc(' ', screen->stream);
        used += strlen(cell) + 1;
    }
    putc(' ', screen->stream);
    return used + 1;
}

/* The columns that names take, before those of the modules: 0 where there is no room for these. */
static size_t name_columns(const struct screen *screen, size_t used, const struct hottest *hottest,
                           size_t count)
{
    size_t columns = strlen("function");

    if (screen->columns < MODULE_FROM)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t function = hottest->functions[i].function;
        const size_t name = fit_columns(screen->summary->images->functions[function].name);
        columns = name > columns ? name : columns;
    }
    used += MODULE_COLUMNS + 2;
    return columns < screen->columns - used ? columns : screen->columns - used;
}

static void write_name(const struct screen *screen, size_t used, size_t columns, const char *name,
                       const char *module)
{
    char *cut;

    if (!columns) {
        write_rest(screen, used, name);
        return;
    }
    cut = fit_cut(name, columns, screen->ellipsis);
    fprintf(screen->stream, "%s%*s  ", cut, (int)(columns - fit_columns(cut)), "");
    write_rest(screen, used + columns + 2, module);
    free(cut);
}

/* How many of the sorted functions are shown: none that did not wait among those that did. */
static size_t shown_count(const struct screen *screen, const struct hottest *hottest,
                          enum hot_order order)
{
    const size_t top = screen->summary->top;
    size_t count = 0;

    while (count < hottest->count && count < top &&
           (order != HOT_WAIT || hottest->functions[count].costs.wait.self_ns))
        count++;
    return count;
}

static void write_table(const struct screen *screen, const struct hottest *hottest,
                        enum hot_order order)
{
    const struct images *images = screen->summary->images;
    const struct table table = table_of(screen, order);
    size_t count, used, columns;

    hottest_sort(hottest, order);
    count = shown_count(screen, hottest, order);
    write_heading(screen, table.heading);
    used = write_cells(screen, table.columns, NULL);
    columns = name_columns(screen, used, hottest, count);
    write_name(screen, used, columns, "function", "module");
    for (size_t i = 0; i < count; i++) {
        const struct hot *hot = &hottest->functions[i];
        const struct function *function = &images->functions[hot->function];
        write_cells(screen, table.columns, &hot->costs);
        write_name(screen, used, columns, function->name,
                   function->image ? image_name(&images->images[function->image]) : "");
    }
}

/* Inclusive waits are a column of the table of waits. */
static void write_tables(const struct screen *screen)
{
    struct hottest hottest = hottest_of(screen->part);
    enum hot_order orders[HOT_ORDERS];
    const size_t count = summary_orders(screen->summary, screen->part, orders);

    for (size_t i = 0; i < count; i++)
        if (orders[i] != HOT_INCLUSIVE_WAIT)
            write_table(screen, &hottest, orders[i]);
    hottest_free(&hottest);
}

/* --- functions whose calls were timed each --- */

static void put_quantile(char text[FIGURE_ROOM], const struct call_times *times, size_t number)
{
    const double share = call_times_quantiles[number].share;

    figure_time(text, figure_exact((double)call_times_quantile_ns(times, share)));
}

static void write_times(const struct screen *screen)
{
    const struct call_times_list *list = &screen->part->times;
    char text[FIGURE_ROOM];
    int used;

    if (!list->count)
        return;
    write_heading(screen, "Times of calls, of functions whose calls were timed each");
    fprintf(screen->stream, "%8s", "calls");
    for (size_t i = 0; i < CALL_TIMES_QUANTILES; i++)
        fprintf(screen->stream, " %7s", call_times_quantiles[i].name);
    fprintf(screen->stream, " %7s  function\n", "longest");
    for (size_t i = 0; i < list->count; i++) {
        const struct call_times *times = &list->items[i];
        used = fprintf(screen->stream, "%8s", figure_count(text, times->calls));
        for (size_t j = 0; j < CALL_TIMES_QUANTILES; j++) {
            put_quantile(text, times, j);
            used += fprintf(screen->stream, " %7s", text);
        }
        used +=
            fprintf(screen->stream, " %7s  ", figure_time(text, figure_exact(times->longest_ns)));
        write_rest(screen, (size_t)used, screen->summary->images->functions[times->function].name);
    }
}

/* --- what it was --- */

/* Of several, one by one, when they were recorded: from the first one's beginning to the last one's
   end. */
static double wall_seconds(const struct profile *profile)
{
    uint64_t begin = UINT64_MAX;
    double end = 0;

    for (size_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].header.created_ns < begin)
            begin = profile->processes[i].header.created_ns;
    for (size_t i = 0; i < profile->process_count; i++) {
        const struct process *process = &profile->processes[i];
        const double since = (double)(process->header.created_ns - begin) / 1e9;
        const double seconds = process_seconds(process);
        if (seconds > 0 && since + seconds > end)
            end = since + seconds;
    }
    return end;
}

static size_t thread_count(const struct profile *profile)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->process_count; i++)
        count += profile->processes[i].thread_count;
    return count;
}

static uint64_t self_ns_of(const struct process *process)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < process->thread_count; i++)
        ns += process->threads[i].self_ns;
    return ns;
}

/* The one that the headline names: with more than one, that which took most. */
static const struct process *main_process(const struct profile *profile)
{
    const struct process *found = &profile->processes[0];

    for (size_t i = 1; i < profile->process_count; i++)
        if (self_ns_of(&profile->processes[i]) > self_ns_of(found))
            found = &profile->processes[i];
    return found;
}

static bool is_one_process(const struct profile *profile)
{
    for (size_t i = 1; i < profile->process_count; i++)
        if (profile->processes[i].header.pid != profile->processes[0].header.pid)
            return false;
    return true;
}

static void write_title(const struct screen *screen)
{
    const struct profile *profile = screen->summary->profile;
    const struct trace_header *header = &main_process(profile)->header;
    char others[64] = "", *title, *cut;
    size_t room;

    if (profile->process_count > 1)
        snprintf(others, sizeof(others), " and %zu %s", profile->process_count - 1,
                 is_one_process(profile) ? "before or after it" : "others");
    room = screen->columns - strlen(others);
    title = memory_print("process %" PRIu32 ": %s", header->pid, header->command);
    cut = fit_cut(title, room, screen->ellipsis);
    free(title);
    title = memory_print("%s%s", cut, others);
    write_in(screen, BOLD, title);
    putc('\n', screen->stream);
    free(title);
    free(cut);
}

static void put_whole_time(FILE *line, const struct screen *screen)
{
    const struct part *part = screen->part;
    char text[FIGURE_ROOM];

    if (screen->is_sampled && !part->ns) {
        fputs("no CPU time that a sample met, ", line);
    } else if (screen->has_times) {
        put_total(text, screen, part->ns);
        fprintf(line, "%s %s, ", text, screen->is_sampled ? "CPU" : "in functions");
    }
    if (screen->is_sampled && part->wait_ns)
        fprintf(line, "%s waited, ", figure_time(text, figure_exact((double)part->wait_ns)));
}

/* Its end, where that is not the usual one. */
static void put_end(FILE *line, const struct profile *profile)
{
    const struct trace_header *header = &main_process(profile)->header;
    char how[64];
    const char *end = process_how_it_ended(header, how);

    if (profile->process_count == 1 && strcmp(end, "ended through exit()") != 0)
        fprintf(line, "; %s", end);
}

static void write_whole(const struct screen *screen)
{
    const struct profile *profile = screen->summary->profile;
    const double wall = wall_seconds(profile);
    const size_t threads = thread_count(profile);
    char text[FIGURE_ROOM], *words = NULL;
    size_t size;
    FILE *line = open_memstream(&words, &size);

    if (!line)
        return;
    if (wall > 0)
        fprintf(line, "%s wall, ", figure_time(text, figure_exact(wall * 1e9)));
    put_whole_time(line, screen);
    fprintf(line, "%s calls, ", figure_count(text, screen->part->calls));
    fprintf(line, "%s thread%s", figure_count(text, threads), threads == 1 ? "" : "s");
    if (screen->summary->shown)
        fprintf(line, "; one of %zu processes", screen->summary->processes->count);
    put_end(line, profile);
    fclose(line);
    fit_wrap(screen->stream, words, screen->columns, 0, screen->ellipsis);
    free(words);
}

/* --- the other processes --- */

static void write_processes(const struct screen *screen)
{
    const struct summary *summary = screen->summary;

    if (!summary->processes || summary->processes->count < 2)
        return;
    putc('\n', screen->stream);
    process_tree_write(screen->stream, summary->processes, summary->shown, screen->columns,
                       summary->shown ? "; * is shown here, another by --process=PID" : "");
}

/* --- threads --- */

struct listed_thread {
    const struct process *process;
    const struct thread_facts *facts;
};

static int compare_threads(const void *left, const void *right)
{
    const struct thread_facts *a = ((const struct listed_thread *)left)->facts;
    const struct thread_facts *b = ((const struct listed_thread *)right)->facts;

    if (a->self_ns != b->self_ns)
        return a->self_ns > b->self_ns ? -1 : 1;
    if (a->entries != b->entries)
        return a->entries > b->entries ? -1 : 1;
    return (a > b) - (a < b);
}

/* Returns the columns used. */
static size_t write_thread_cells(const struct screen *screen, const char *time, const char *waited,
                                 const char *calls, const char *thread)
{
    int used = 0;

    if (screen->has_times)
        used += fprintf(screen->stream, "%8s ", time);
    if (screen->is_sampled)
        used += fprintf(screen->stream, "%8s ", waited);
    used += fprintf(screen->stream, "%8s %6s  ", calls, thread);
    return (size_t)used;
}

/* Where there are several processes, the pid is in front of the name. */
static void write_thread(const struct screen *screen, const struct listed_thread *thread)
{
    const struct thread_facts *facts = thread->facts;
    char time[FIGURE_ROOM], waited[FIGURE_ROOM], calls[FIGURE_ROOM], number[16], pid[16] = "";
    char *name;
    size_t used;

    put_total(time, screen, facts->self_ns);
    figure_time(waited, figure_exact((double)facts->wait_ns));
    figure_count(calls, facts->entries);
    snprintf(number, sizeof(number), "%" PRIu32, facts->record.ordinal);
    if (!is_one_process(screen->summary->profile))
        snprintf(pid, sizeof(pid), "%" PRIu32 " ", thread->process->header.pid);
    used = write_thread_cells(screen, time, waited, calls, number);
    name = memory_print("%s%s", pid, facts->record.name);
    write_rest(screen, used, name);
    free(name);
}

static void write_more(const struct screen *screen, size_t count, size_t shown, const char *what)
{
    if (count > shown)
        fprintf(screen->stream, "%zu more %s: --top=%zu\n", count - shown, what, count);
}

static void write_threads(const struct screen *screen)
{
    const struct profile *profile = screen->summary->profile;
    const size_t count = thread_count(profile), top = screen->summary->top;
    struct listed_thread *threads = memory_zeroed(count + 1, sizeof(*threads));
    size_t added = 0;

    for (size_t i = 0; i < profile->process_count; i++)
        for (size_t j = 0; j < profile->processes[i].thread_count; j++)
            threads[added++] =
                (struct listed_thread){&profile->processes[i], &profile->processes[i].threads[j]};
    qsort(threads, count, sizeof(*threads), compare_threads);
    write_heading(screen, "Threads");
    write_thread_cells(screen, screen->is_sampled ? "CPU" : "time", "waited", "calls", "thread");
    fputs("name\n", screen->stream);
    for (size_t i = 0; i < count && i < top; i++)
        write_thread(screen, &threads[i]);
    write_more(screen, count, top, "threads");
    free(threads);
}

/* --- modules --- */

/* What is in every process that is recorded, and is not of the program. */
static bool is_of_recording(const struct module_facts *module)
{
    const char *slash = strrchr(module->path, '/'), *backslash = strrchr(module->path, '\\');
    const char *name = slash ? slash + 1 : backslash ? backslash + 1 : module->path;

    return !module->image && (!strncmp(name, "libhooks.so", 11) || !strcmp(name, "hooks.dll") ||
                              !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-musl", 7));
}

static void write_module(const struct screen *screen, const struct module_facts *module)
{
    const struct image *image = &screen->summary->images->images[module->image];
    char hooked[FIGURE_ROOM] = "-", functions[FIGURE_ROOM] = "-", *text;
    const char *problem = module->image ? image->problem : "not instrumented";

    if (module->image)
        figure_count(functions, image->function_count);
    if (module->image && !problem)
        figure_count(hooked, image->manifest.hooked);
    fprintf(screen->stream, "%9s %9s  ", functions, hooked);
    text =
        problem ? memory_print("%s (%s)", module->path, problem) : memory_copy_string(module->path);
    write_rest(screen, 9 + 1 + 9 + 2, text);
    free(text);
}

struct listed_module {
    const struct module_facts *facts;
    size_t order;
};

static int compare_paths(const void *left, const void *right)
{
    const struct listed_module *a = left, *b = right;
    const int order = strcmp(a->facts->path, b->facts->path);

    if (order)
        return order;
    if (!a->facts->image != !b->facts->image)
        return a->facts->image ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int compare_order(const void *left, const void *right)
{
    const struct listed_module *a = left, *b = right;

    return (a->order > b->order) - (a->order < b->order);
}

/* Each file once, in the order in which they were loaded; one that is instrumented in some process
   is shown as that. To be freed; *count of them. */
static struct listed_module *listed_modules(const struct profile *profile, size_t *count)
{
    struct listed_module *modules;
    size_t all = 0, kept = 0;

    for (size_t i = 0; i < profile->process_count; i++)
        all += profile->processes[i].module_count;
    modules = memory_zeroed(all + 1, sizeof(*modules));
    all = 0;
    for (size_t i = 0; i < profile->process_count; i++) {
        const struct process *process = &profile->processes[i];
        for (size_t j = 0; j < process->module_count; j++, all++)
            modules[all] = (struct listed_module){&process->modules[j], all};
    }
    qsort(modules, all, sizeof(*modules), compare_paths);
    for (size_t i = 0; i < all; i++)
        if (!is_of_recording(modules[i].facts) &&
            (!kept || strcmp(modules[i].facts->path, modules[kept - 1].facts->path) != 0))
            modules[kept++] = modules[i];
    qsort(modules, kept, sizeof(*modules), compare_order);
    *count = kept;
    return modules;
}

static void write_modules(const struct screen *screen)
{
    const size_t top = screen->summary->top;
    size_t count;
    struct listed_module *modules = listed_modules(screen->summary->profile, &count);

    if (count) {
        write_heading(screen, "Modules");
        fprintf(screen->stream, "%9s %9s  module\n", "functions", "hooked");
    }
    for (size_t i = 0; i < count && i < top; i++)
        write_module(screen, modules[i].facts);
    write_more(screen, count, top, "modules");
    free(modules);
}

/* --- what is said in lines of a label and a text --- */

static bool is_warning(const char *line)
{
    return strspn(line, " ") == 2 && isupper((unsigned char)line[2]) &&
           isupper((unsigned char)line[3]);
}

/* text: lines; only those that are warnings, or are not. */
static void write_lines(const struct screen *screen, char *text, bool are_warnings)
{
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next = 0;
        if (is_warning(line) == are_warnings)
            fit_wrap(screen->stream, line, screen->columns, LABEL_COLUMNS, screen->ellipsis);
        if (next)
            *next++ = '\n';
    }
}

static void put_sum(FILE *stream, const char *label, uint64_t sum, const char *what)
{
    if (sum)
        fprintf(stream, "  %-9s %" PRIu64 " %s\n", label, sum, what);
}

static void put_losses(FILE *stream, const struct process *process)
{
    uint64_t skipped = 0, dropped = 0, folded = 0;

    for (size_t i = 0; i < process->thread_count; i++) {
        skipped += process->threads[i].record.skipped;
        dropped += process->threads[i].record.dropped;
        folded += process->threads[i].record.folded;
    }
    put_sum(stream, "skipped", skipped, "calls within a hook, or without a thunk");
    put_sum(stream, "DROPPED", dropped, "calls that there was no room for");
    put_sum(stream, "folded", folded,
            "contexts past the limit of nodes: their callers are known, not their chains");
}

/* To be freed; null without memory. */
static char *facts_of(const struct screen *screen, const struct process *process)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    process_facts_write(stream, process, screen->has_times);
    put_losses(stream, process);
    process_inherited_write(stream, process);
    fclose(stream);
    return text;
}

static void write_warnings(const struct screen *screen)
{
    const struct profile *profile = screen->summary->profile;

    for (size_t i = 0; i < profile->process_count; i++) {
        char *facts = facts_of(screen, &profile->processes[i]);
        write_lines(screen, facts, true);
        free(facts);
    }
}

static void write_details(const struct screen *screen)
{
    const struct profile *profile = screen->summary->profile;

    for (size_t i = 0; i < profile->process_count && i < screen->summary->top; i++) {
        const struct process *process = &profile->processes[i];
        char *facts = facts_of(screen, process);
        char *title = profile->process_count == 1
                          ? memory_copy_string("Details")
                          : memory_print("Details of process %" PRIu32 ": %s", process->header.pid,
                                         process->header.command);
        write_heading(screen, title);
        write_lines(screen, facts, false);
        free(title);
        free(facts);
    }
}

static int write_events(const struct screen *screen)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    int result;

    if (!stream)
        return -1;
    result = event_summary_write(stream, screen->summary->profile, screen->columns < EVENT_COLUMNS);
    fclose(stream);
    if (*text)
        putc('\n', screen->stream);
    write_lines(screen, text, false);
    write_lines(screen, text, true);
    free(text);
    return result;
}

int summary_screen_write(FILE *stream, const struct summary *summary,
                         const struct terminal *terminal)
{
    const struct profile *profile = summary->profile;
    const struct part none = {0};
    const struct screen screen = {
        .stream = stream,
        .summary = summary,
        .part = profile->part_count ? &profile->parts[0] : &none,
        .columns = terminal->columns,
        .ellipsis = terminal->is_utf8 ? FIT_ELLIPSIS : FIT_ASCII_ELLIPSIS,
        .has_colour = terminal->has_colour,
        .has_times = profile_has_times(profile),
        .is_sampled = profile_is_sampled(profile),
    };

    write_title(&screen);
    write_whole(&screen);
    write_warnings(&screen);
    write_tables(&screen);
    write_times(&screen);
    write_processes(&screen);
    write_threads(&screen);
    write_modules(&screen);
    write_details(&screen);
    return write_events(&screen);
}
