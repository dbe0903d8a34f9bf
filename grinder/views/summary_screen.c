#include "grinder/views/summary_screen.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/events/event_summary.h"
#include "grinder/views/fit.h"
#include "grinder/views/process_facts.h"
#include "grinder/views/process_tree.h"
#include "grinder/views/summary_tables.h"
#include "support/memory.h"
#include "trace/agent_name.h"

#define EVENT_COLUMNS 130 /* of the event summary's table */
#define LABEL_COLUMNS 12  /* left of the text of a detail */
#define MOST          0.8 /* of the CPU time: less of it in functions is told */

/* --- what it was --- */

/* From the beginning of the first process that was recorded to the end of the last one. */
static double wall_seconds(const struct profile *profile)
{
    uint64_t begin = UINT64_MAX;
    double end = 0;

    for (size_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].header.created_ns < begin)
            begin = profile->processes[i].header.created_ns;
    for (size_t i = 0; i < profile->process_count; i++) {
        const struct process *process = &profile->processes[i];
        double since = (double)(process->header.created_ns - begin) / 1e9;
        double seconds = process_seconds(process);
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

struct took {
    uint64_t self_ns, entries;
};

static struct took took(const struct process *process)
{
    struct took sum = {0};

    for (size_t i = 0; i < process->thread_count; i++) {
        sum.self_ns += process->threads[i].self_ns;
        sum.entries += process->threads[i].entries;
    }
    return sum;
}

/* The one that the headline names: with more than one, that which took most; where no times tell,
   that with most calls. */
static const struct process *main_process(const struct profile *profile)
{
    const struct process *found = &profile->processes[0];

    for (size_t i = 1; i < profile->process_count; i++) {
        struct took mine = took(&profile->processes[i]), best = took(found);
        if (mine.self_ns != best.self_ns ? mine.self_ns > best.self_ns
                                         : mine.entries > best.entries)
            found = &profile->processes[i];
    }
    return found;
}

static bool is_one_process(const struct profile *profile)
{
    for (size_t i = 1; i < profile->process_count; i++)
        if (profile->processes[i].header.pid != profile->processes[0].header.pid)
            return false;
    return true;
}

static void write_title(const struct summary_layout *layout)
{
    const struct profile *profile = layout->summary->profile;
    const struct trace_header *header = &main_process(profile)->header;
    char others[64] = "", *title, *cut;
    size_t room;

    if (profile->process_count > 1)
        snprintf(others, sizeof(others), " and %zu %s", profile->process_count - 1,
                 is_one_process(profile) ? "before or after an exec" : "others");
    room = layout->columns - strlen(others);
    title = memory_print("process %" PRIu32 ": %s", header->pid, header->command);
    cut = fit_cut(title, room, layout->ellipsis);
    free(title);
    title = memory_print("%s%s", cut, others);
    layout_write_in(layout, LAYOUT_BOLD, title);
    putc('\n', layout->stream);
    free(title);
    free(cut);
}

/* What threads' clocks say, hooks and all. */
struct clocks {
    uint64_t ns;
    bool saw_hooks; /* some sample met one */
};

/* None where another run's times are shown. */
static struct clocks clocks_of(const struct profile *profile)
{
    struct clocks clocks = {0};

    for (size_t i = 0; i < profile->process_count && !profile->borrowed.path; i++) {
        for (size_t j = 0; j < profile->processes[i].thread_count; j++) {
            const struct trace_thread *record = &profile->processes[i].threads[j].record;
            clocks.ns += record->processor_ns;
            clocks.saw_hooks = clocks.saw_hooks || record->in_hooks;
        }
    }
    return clocks;
}

static void put_whole_time(FILE *line, const struct summary_layout *layout)
{
    const struct part *part = layout->part;
    struct clocks clocks = clocks_of(layout->summary->profile);
    char text[FIGURE_ROOM];

    if (layout->is_sampled && (double)part->ns < MOST * (double)clocks.ns &&
        (part->ns || clocks.saw_hooks)) {
        fprintf(line, "%s CPU, ", figure_time(text, figure_exact((double)clocks.ns)));
        layout_put_total(text, layout, part->ns);
        if (part->ns)
            fprintf(line, "%s of it in functions, ", text);
        else
            fputs("all its samples in hooks, ", line);
    } else if (layout->is_sampled && !part->ns && clocks.ns) { /* as of threads of less than 1 ms */
        fprintf(line, "%s CPU, which no sample met, ",
                figure_time(text, figure_exact((double)clocks.ns)));
    } else if (layout->is_sampled && !part->ns) {
        fputs("no CPU time that a sample met, ", line);
    } else if (layout->has_times) {
        layout_put_total(text, layout, part->ns);
        fprintf(line, "%s %s, ", text, layout->is_sampled ? "CPU" : "in functions");
    }
    if (layout->is_sampled && part->wait_ns)
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

static void write_whole(const struct summary_layout *layout)
{
    const struct profile *profile = layout->summary->profile;
    double wall = wall_seconds(profile);
    size_t threads = thread_count(profile);
    char text[FIGURE_ROOM], *words = NULL;
    size_t size;
    FILE *line = open_memstream(&words, &size);

    if (!line)
        return;
    if (wall > 0)
        fprintf(line, "%s wall, ", figure_time(text, figure_exact(wall * 1e9)));
    put_whole_time(line, layout);
    fprintf(line, "%s %s, ", figure_count(text, layout->part->calls), profile_counts(profile));
    fprintf(line, "%s thread%s", figure_count(text, threads), threads == 1 ? "" : "s");
    if (layout->summary->shown)
        fprintf(line, "; one of %zu processes", layout->summary->processes->count);
    put_end(line, profile);
    fclose(line);
    fit_wrap(layout->stream, words, layout->columns, 0, layout->ellipsis);
    free(words);
}

/* --- the other processes --- */

static void write_processes(const struct summary_layout *layout)
{
    const struct summary *summary = layout->summary;

    if (!summary->processes || summary->processes->count < 2)
        return;
    putc('\n', layout->stream);
    process_tree_write(layout->stream, summary->processes, summary->shown, layout->columns,
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
static size_t write_thread_cells(const struct summary_layout *layout, const char *time,
                                 const char *waited, const char *calls, const char *thread)
{
    int used = 0;

    bool has_own = !layout->summary->profile->borrowed.path;

    if (layout->has_times && has_own)
        used += fprintf(layout->stream, "%8s ", time);
    if (layout->is_sampled && has_own)
        used += fprintf(layout->stream, "%8s ", waited);
    used += fprintf(layout->stream, "%8s %6s  ", calls, thread);
    return (size_t)used;
}

/* Where there are several processes, the pid is in front of the name. */
static void write_thread(const struct summary_layout *layout, const struct listed_thread *thread)
{
    const struct thread_facts *facts = thread->facts;
    char time[FIGURE_ROOM], waited[FIGURE_ROOM], calls[FIGURE_ROOM], number[16], pid[16] = "";
    char *name;
    size_t used;

    layout_put_total(time, layout, facts->self_ns);
    figure_time(waited, figure_exact((double)facts->wait_ns));
    figure_count(calls, facts->entries);
    snprintf(number, sizeof(number), "%" PRIu32, facts->record.ordinal);
    if (!is_one_process(layout->summary->profile))
        snprintf(pid, sizeof(pid), "%" PRIu32 " ", thread->process->header.pid);
    used = write_thread_cells(layout, time, waited, calls, number);
    name = memory_print("%s%s", pid, facts->record.name);
    layout_write_rest(layout, used, name);
    free(name);
}

static void write_more(const struct summary_layout *layout, size_t count, size_t shown,
                       const char *what)
{
    if (count > shown)
        fprintf(layout->stream, "%zu more %s: --top=%zu\n", count - shown, what, count);
}

static void write_threads(const struct summary_layout *layout)
{
    const struct profile *profile = layout->summary->profile;
    size_t count = thread_count(profile), top = layout->summary->top;
    struct listed_thread *threads = memory_zeroed(count + 1, sizeof(*threads));
    size_t added = 0;

    for (size_t i = 0; i < profile->process_count; i++)
        for (size_t j = 0; j < profile->processes[i].thread_count; j++)
            threads[added++] =
                (struct listed_thread){&profile->processes[i], &profile->processes[i].threads[j]};
    qsort(threads, count, sizeof(*threads), compare_threads);
    layout_write_heading(layout, "Threads");
    write_thread_cells(layout, layout->is_sampled ? "CPU" : "time", "waited",
                       profile_counts(layout->summary->profile), "thread");
    fputs("name\n", layout->stream);
    for (size_t i = 0; i < count && i < top; i++)
        write_thread(layout, &threads[i]);
    write_more(layout, count, top, "threads");
    free(threads);
}

/* --- modules --- */

/* What is in every process that is recorded, and is not of the program. */
static bool is_of_recording(const struct module_facts *module)
{
    const char *slash = strrchr(module->path, '/'), *backslash = strrchr(module->path, '\\');
    const char *name = slash ? slash + 1 : backslash ? backslash + 1 : module->path;

    return !module->image && (agent_name_is(name) || agent_name_is_windows(name) ||
                              !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-musl", 7));
}

static void write_module(const struct summary_layout *layout, const struct module_facts *module)
{
    const struct image *image = &layout->summary->images->images[module->image];
    char hooked[FIGURE_ROOM] = "-", functions[FIGURE_ROOM] = "-", *text;
    const char *problem = module->image ? image->problem : "not instrumented";
    bool is_stacked = profile_is_stacked(layout->summary->profile);
    int used = 0;

    if (module->image)
        figure_count(functions, image->function_count);
    if (module->image && !problem)
        figure_count(hooked, image->manifest.hooked);
    if (!is_stacked)
        used = fprintf(layout->stream, "%9s %9s  ", functions, hooked);
    text = problem && !is_stacked ? memory_print("%s (%s)", module->path, problem)
                                  : memory_copy_string(module->path);
    layout_write_rest(layout, (size_t)used, text);
    free(text);
}

struct listed_module {
    const struct module_facts *facts;
    size_t order;
};

static int compare_paths(const void *left, const void *right)
{
    const struct listed_module *a = left, *b = right;
    int order = strcmp(a->facts->path, b->facts->path);

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

static void write_modules(const struct summary_layout *layout)
{
    size_t top = layout->summary->top;
    size_t count;
    struct listed_module *modules = listed_modules(layout->summary->profile, &count);

    if (count)
        layout_write_heading(layout, "Modules");
    if (count && !profile_is_stacked(layout->summary->profile)) {
        fprintf(layout->stream, "%9s %9s  module\n", "functions", "hooked");
    }
    for (size_t i = 0; i < count && i < top; i++)
        write_module(layout, modules[i].facts);
    write_more(layout, count, top, "modules");
    free(modules);
}

/* --- what is said in lines of a label and a text --- */

static bool is_warning(const char *line)
{
    return strspn(line, " ") == 2 && isupper((unsigned char)line[2]) &&
           isupper((unsigned char)line[3]);
}

/* text: lines; only those that are warnings, or are not. */
static void write_lines(const struct summary_layout *layout, char *text, bool are_warnings)
{
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next = 0;
        if (is_warning(line) == are_warnings)
            fit_wrap(layout->stream, line, layout->columns, LABEL_COLUMNS, layout->ellipsis);
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
static char *facts_of(const struct summary_layout *layout, const struct process *process)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    process_facts_write(stream, layout->summary->profile, process);
    put_losses(stream, process);
    process_inherited_write(stream, process);
    fclose(stream);
    return text;
}

static void write_warnings(const struct summary_layout *layout)
{
    const struct profile *profile = layout->summary->profile;

    for (size_t i = 0; i < profile->process_count; i++) {
        char *facts = facts_of(layout, &profile->processes[i]);
        write_lines(layout, facts, true);
        free(facts);
    }
}

static void write_details(const struct summary_layout *layout)
{
    const struct profile *profile = layout->summary->profile;

    for (size_t i = 0; i < profile->process_count && i < layout->summary->top; i++) {
        const struct process *process = &profile->processes[i];
        char *facts = facts_of(layout, process);
        char *title = profile->process_count == 1
                          ? memory_copy_string("Details")
                          : memory_print("Details of process %" PRIu32 ": %s", process->header.pid,
                                         process->header.command);
        layout_write_heading(layout, title);
        write_lines(layout, facts, false);
        free(title);
        free(facts);
    }
}

/* Says whose the times are, if they are another run's. */
static void write_borrowed(const struct summary_layout *layout)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return;
    borrowed_times_write(stream, layout->summary->profile, layout->summary->images);
    fclose(stream);
    if (*text)
        putc('\n', layout->stream);
    text[strlen(text) ? strlen(text) - 1 : 0] = 0;
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        fit_wrap(layout->stream, line, layout->columns, 2, layout->ellipsis);
    }
    free(text);
}

static bool write_events(const struct summary_layout *layout)
{
    char *text = NULL;
    size_t size;
    FILE *stream = memory_or_exit(open_memstream(&text, &size), sizeof(FILE));
    bool is_sound = event_summary_write(stream, layout->summary->profile,
                                        layout->columns < EVENT_COLUMNS, layout->summary->say);

    fclose(stream);
    if (*text)
        putc('\n', layout->stream);
    write_lines(layout, text, false);
    write_lines(layout, text, true);
    free(text);
    return is_sound;
}

bool summary_screen_write(FILE *stream, const struct summary *summary,
                          const struct terminal *terminal)
{
    const struct profile *profile = summary->profile;
    const struct part none = {0};
    const struct summary_layout layout = {
        .stream = stream,
        .summary = summary,
        .part = profile->part_count ? &profile->parts[0] : &none,
        .columns = terminal->columns,
        .ellipsis = terminal->is_utf8 ? FIT_ELLIPSIS : FIT_ASCII_ELLIPSIS,
        .has_colour = terminal->has_colour,
        .has_times = profile_has_times(profile),
        .is_sampled = profile_is_sampled(profile),
    };

    write_title(&layout);
    write_whole(&layout);
    write_borrowed(&layout);
    write_warnings(&layout);
    summary_tables_write(&layout);
    write_processes(&layout);
    write_threads(&layout);
    write_modules(&layout);
    write_details(&layout);
    return write_events(&layout);
}
