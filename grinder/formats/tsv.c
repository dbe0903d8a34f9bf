/*
 * Tables with tab-separated columns and a line of headings: functions, or call edges.
 *
 *      pid   tid   thread  function  module          file           line  calls  self_ns  total_ns
 *      4711  4711  main    fib       /home/me/fib    /home/me/fib.c 12    3      900      2000
 *
 *      … symbol   build_id  address  offset  size
 *      … _Z3fibi  93ac61…   0x1139   0x1139  42
 *
 *      … samples  self_low_ns  self_high_ns  total_low_ns  total_high_ns
 *      … 2        250          3280          820           5000
 *
 *      … waits  wait_ns  total_wait_ns  longest_wait_ns
 *      … 2      410000   410000         300000
 *
 *      … timed_calls  mean_ns  p50_ns  p90_ns  p99_ns  p999_ns  longest_call_ns  longest_call_at_ns
 * version … 3            560      290     1100    1100    1100     1101             5000000 1
 *
 *      … calls_are_at_least     only where hooks were out for a while: 1 of whose calls are more
 * (unhooked.h) … 0
 *
 *      … self_instructions  total_instructions  version     only where some are counted
 *      … 1042               3180                1
 *
 * A call edge has build_id and address of caller and callee, and the return_address of the call, in
 * the caller's module. docs/profile.schema.json says it in full, location.h what address and offset
 * are.
 *
 * Of merged parts pid, tid and thread are empty. Where nothing was instrumented, calls are. What is
 * not known is empty, as are times where none were recorded, times of functions whose calls were
 * not timed each (call_times.h), and samples, ranges (sample_range.h) and waits where times are not
 * made of samples. Text that a spreadsheet would take for a formula has a ' in front. calls and
 * self_ns add up to all there is; total_ns has each function's callees in it.
 */
#include "grinder/formats/format.h"

#include <inttypes.h>

#include "grinder/profile/location.h"
#include "grinder/profile/symbolize.h"
#include "support/utf8.h"

#define SAMPLE_COLUMNS "samples\tself_low_ns\tself_high_ns\ttotal_low_ns\ttotal_high_ns\t"
#define WAIT_COLUMNS   "waits\twait_ns\ttotal_wait_ns\tlongest_wait_ns\t"
#define TIME_COLUMNS                                                                               \
    "timed_calls\tmean_ns\tp50_ns\tp90_ns\tp99_ns\tp999_ns\tlongest_call_ns\tlongest_call_at_ns\t"

static void write_text(FILE *stream, const char *text)
{
    utf8_write_cell(stream, text);
    putc('\t', stream);
}

static void write_thread(FILE *stream, const struct profile *profile, const struct part *part)
{
    const struct process *process = &profile->processes[part->process];
    const struct trace_thread *thread;

    if (profile->merged) {
        fputs("\t\t\t", stream);
        return;
    }
    thread = &process->threads[part->thread].record;
    fprintf(stream, "%" PRIu32 "\t%" PRIu32 "\t", process->header.pid, thread->tid);
    write_text(stream, thread->name);
}

static void write_function(FILE *stream, const struct images *images, uint32_t function)
{
    uint32_t image = images->functions[function].image;

    write_text(stream, images->functions[function].name);
    write_text(stream, image ? images->images[image].path : "");
}

static void write_place(FILE *stream, const struct place *place)
{
    write_text(stream, place->file_number ? place->file : "");
    if (place->line)
        fprintf(stream, "%" PRIu32, place->line);
    putc('\t', stream);
}

static void write_costs(FILE *stream, const struct profile *profile, const struct costs *costs)
{
    if (profile_is_stacked(profile))
        fprintf(stream, "\t%" PRIu64 "\t%" PRIu64 "\t", costs->self_ns, costs->total_ns);
    else if (profile_has_times(profile))
        fprintf(stream, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", costs->calls, costs->self_ns,
                costs->total_ns);
    else
        fprintf(stream, "%" PRIu64 "\t\t\t", costs->calls);
}

static void write_range(FILE *stream, struct sample_range range)
{
    fprintf(stream, "\t%" PRIu64 "\t%" PRIu64, range.low_ns, range.high_ns);
}

/* Behind them. */
static void write_waits(FILE *stream, const struct profile *profile, const struct wait_cost *wait)
{
    if (profile_is_sampled(profile))
        fprintf(stream, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, wait->count,
                wait->self_ns, wait->total_ns, wait->longest_ns);
    else
        fputs("\t\t\t\t", stream);
}

static void write_samples(FILE *stream, const struct profile *profile, const struct part *part,
                          const struct costs *costs)
{
    if (!profile_is_sampled(profile)) {
        fputs("\t\t\t\t\t", stream);
        return;
    }
    fprintf(stream, "\t%" PRIu64, costs->samples);
    write_range(stream, part_range(part, costs->self_ns, costs->samples));
    write_range(stream, part_range(part, costs->total_ns, costs->total_samples));
}

static void write_address(FILE *stream, uint64_t address)
{
    if (address)
        fprintf(stream, "%#" PRIx64, address);
    putc('\t', stream);
}

static void write_module(FILE *stream, const struct location *location)
{
    char build_id[BUILD_ID_TEXT] = "";

    if (location->module)
        location_build_id(build_id, location->module);
    fprintf(stream, "%s\t", build_id);
    write_address(stream, location->address);
}

static void write_function_location(FILE *stream, const struct images *images, uint32_t function)
{
    const struct location location = location_of_function(images, function);
    const char *symbol = images->functions[function].symbol;

    write_text(stream, symbol ? symbol : "");
    write_module(stream, &location);
    write_address(stream, location.offset);
    if (location.size)
        fprintf(stream, "%" PRIu64, location.size);
}

static void write_edge_location(FILE *stream, const struct images *images, const struct pair *key)
{
    const struct location caller = location_of_function(images, (uint32_t)(key->a >> 32));
    const struct location callee = location_of_function(images, (uint32_t)key->a);
    const struct location returns = location_of_return(images, key->b);

    write_module(stream, &caller);
    write_module(stream, &callee);
    if (returns.address)
        fprintf(stream, "%#" PRIx64, returns.address);
}

static void write_times(FILE *stream, const struct call_times *times)
{
    if (!times) {
        fputs("\t\t\t\t\t\t\t\t", stream);
        return;
    }
    fprintf(stream, "\t%" PRIu64 "\t%" PRIu64, times->calls, call_times_mean_ns(times));
    for (size_t i = 0; i < CALL_TIMES_QUANTILES; i++)
        fprintf(stream, "\t%" PRIu64, call_times_quantile_ns(times, call_times_quantiles[i].share));
    fprintf(stream, "\t%.0f\t%.0f", times->longest_ns, times->longest_at_ns);
}

static void write_last_headings(FILE *stream, const struct profile *profile)
{
    if (profile_has_instructions(profile))
        fputs("self_instructions\ttotal_instructions\t", stream);
    fputs("version\n", stream);
}

/* Behind the cells before them. */
static void write_instructions(FILE *stream, const struct profile *profile,
                               const struct costs *costs)
{
    if (profile_has_instructions(profile))
        fprintf(stream, "\t%" PRIu64 "\t%" PRIu64, costs->self_instructions,
                costs->total_instructions);
}

static void write_version(FILE *stream)
{
    fprintf(stream, "\t%d\n", FORMAT_VERSION);
}

void tsv_write(FILE *stream, const struct view *view)
{
    bool has_more_calls = profile_has_more_calls(view->profile);

    fputs("pid\ttid\tthread\tfunction\tmodule\tfile\tline\tcalls\tself_ns\ttotal_ns\t"
          "symbol\tbuild_id\taddress\toffset\tsize\t" SAMPLE_COLUMNS WAIT_COLUMNS TIME_COLUMNS,
          stream);
    if (has_more_calls)
        fputs("calls_are_at_least\t", stream);
    write_last_headings(stream, view->profile);
    for (size_t i = view->first; i < view->first + view->count; i++) {
        const struct part *part = &view->profile->parts[i];
        const struct cost_table *table = &part->functions;
        for (size_t j = 0; j < table->keys.count; j++) {
            uint32_t function = (uint32_t)table->keys.pairs[j].a;
            struct place place = place_of_function(view->images, function);
            write_thread(stream, view->profile, part);
            write_function(stream, view->images, function);
            write_place(stream, &place);
            write_costs(stream, view->profile, &table->costs[j]);
            write_function_location(stream, view->images, function);
            write_samples(stream, view->profile, part, &table->costs[j]);
            write_waits(stream, view->profile, &table->costs[j].wait);
            write_times(stream, call_times_of(&part->times, function));
            if (has_more_calls)
                fprintf(stream, "\t%d", view->images->functions[function].has_more_calls);
            write_instructions(stream, view->profile, &table->costs[j]);
            write_version(stream);
        }
    }
}

void tsv_edges_write(FILE *stream, const struct view *view)
{
    fputs("pid\ttid\tthread\tcaller\tcaller_module\tcallee\tcallee_module\tfile\tline\tcalls\t"
          "self_ns\ttotal_ns\tcaller_build_id\tcaller_address\tcallee_build_id\t"
          "callee_address\treturn_address\t" SAMPLE_COLUMNS WAIT_COLUMNS,
          stream);
    write_last_headings(stream, view->profile);
    for (size_t i = view->first; i < view->first + view->count; i++) {
        const struct part *part = &view->profile->parts[i];
        const struct cost_table *table = &part->edges;
        for (size_t j = 0; j < table->keys.count; j++) {
            const struct pair *key = &table->keys.pairs[j];
            struct place site = place_of_site(view->images, key->b);
            write_thread(stream, view->profile, part);
            write_function(stream, view->images, (uint32_t)(key->a >> 32));
            write_function(stream, view->images, (uint32_t)key->a);
            write_place(stream, &site);
            write_costs(stream, view->profile, &table->costs[j]);
            write_edge_location(stream, view->images, key);
            write_samples(stream, view->profile, part, &table->costs[j]);
            write_waits(stream, view->profile, &table->costs[j].wait);
            write_instructions(stream, view->profile, &table->costs[j]);
            write_version(stream);
        }
    }
}
