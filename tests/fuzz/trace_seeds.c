/* Writes small traces, the seeds of trace_fuzz, into the folder it is given. */
#include "trace/trace_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;

static void write_sample(struct trace_sample *sample, const char *name)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s.trace", folder, name);
    file = fopen(path, "w");
    if (!file || fwrite(sample->bytes, sample->size, 1, file) != 1 || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    trace_sample_free(sample);
}

/* A chain of calls in each of two threads, the last of them folded. */
static void begin(struct trace_sample *sample)
{
    trace_sample_begin(sample, 4242, "./program");
    trace_sample_add_module(sample, "/proc/self/exe", 0x400000, 0x10000, 1, 4, 7);
    trace_sample_add_module(sample, "/no/such/library.so", 0x500000, 0x10000, 5, 4, 8);
    for (uint32_t thread = 1; thread <= 2; thread++) {
        uint32_t node;

        trace_sample_add_thread(sample, thread == 1 ? "main" : "worker");
        node = trace_sample_thread(sample, thread)->root;
        for (uint32_t function = 1; function <= 8; function++)
            node = trace_sample_add_node(sample, thread, node, 0x400100, function, 3, 1000);
        trace_sample_add_fold(sample, thread, 3);
    }
}

/* Two contexts that call each other and a leaf from many places. */
static void add_links(struct trace_sample *sample)
{
    size_t first = trace_sample_add_links(sample, 69, TRACE_LINKS_INLINE + TRACE_LINKS_CHUNK + 1);
    size_t second = trace_sample_add_links(sample, 70, 3);

    for (uint32_t place = 0; place <= TRACE_LINKS_INLINE + TRACE_LINKS_CHUNK; place += 8)
        trace_sample_call(sample, first, place, second, 30 + place);
    trace_sample_call(sample, second, 0, first, 50);
    trace_sample_call_node(sample, second, 2, 71, 60);
    trace_sample_links(sample, second)->entered = 9;
}

int main(int argument_count, char **arguments)
{
    const uint32_t depths[] = {20, 30, 40, 45, 60}, nodes[] = {68, 69, 70, 69, 70};
    struct trace_sample sample;
    size_t links;
    uint32_t place;

    if (argument_count != 2)
        return 2;
    folder = arguments[1];
    begin(&sample);
    write_sample(&sample, "ended");
    begin(&sample);
    trace_sample_add_stack(&sample, 1, depths, nodes, 5);
    trace_sample_add_stack(&sample, 2, depths, nodes, 3);
    write_sample(&sample, "stacks");
    begin(&sample);
    add_links(&sample);
    write_sample(&sample, "links");
    begin(&sample);
    trace_sample_add_wait(&sample, 1, 69, 3, 3000);
    trace_sample_add_wait(&sample, 2, 70, 1, 100);
    write_sample(&sample, "waits");
    begin(&sample);
    trace_sample_header(&sample)->timing = TRACE_TIMING_SAMPLES;
    trace_sample_node(&sample, 70)->site = TRACE_SITE_SHARED;
    links = trace_sample_add_links(&sample, 69, 2);
    trace_sample_call_node(&sample, links, 1, 70, 60);
    trace_sample_add_site(&sample, 1, 69, 0x400100, trace_sample_link(&sample, links, 1));
    trace_sample_add_calls(&sample, 1, 69, 0x400200, 70, 5);
    write_sample(&sample, "shared");
    begin(&sample);
    place = trace_sample_add_node(&sample, 1, 69, 0x400200, 2, 3, 300);
    trace_sample_node(&sample, place)->context = 70;
    write_sample(&sample, "places");
    begin(&sample);
    trace_sample_header(&sample)->timing = TRACE_TIMING_SAMPLES;
    trace_sample_add_hit(&sample, 1, &(struct trace_hit){5000, 0x400110, 69, 1000000})[1] =
        (struct trace_hit){6000, 0x500110, 70, 1000};
    trace_sample_add_hit(&sample, 2, &(struct trace_hit){7000, 0x400110, 133, 1000000});
    write_sample(&sample, "hits");
    begin(&sample);
    memset(trace_sample_add_cover(&sample, 1, 0, 0), 1, 40);
    write_sample(&sample, "cover");
    begin(&sample);
    trace_sample_header(&sample)->state = TRACE_RUNNING;
    trace_sample_thread(&sample, 1)->state = TRACE_THREAD_RUNNING;
    write_sample(&sample, "running");
    return 0;
}
