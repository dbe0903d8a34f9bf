/* Writes the traces that grinder_test.sh grinds into the folder it is given. */
#include <stdio.h>
#include <stdlib.h>

#include "trace/trace_sample.h"

static const char *folder;

static void write_sample(struct trace_sample *sample, const char *name)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s.bin", folder, name);
    file = fopen(path, "w");
    if (!file || fwrite(sample->bytes, sample->size, 1, file) != 1 || fclose(file)) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    trace_sample_free(sample);
}

/* main calls fib(30) and a worker does the same, in one context a level. */
static void begin(struct trace_sample *sample)
{
    static const char *names[] = {"main", "worker"};

    trace_sample_begin(sample, 4242, "./fib 30");
    for (uint32_t thread = 1; thread <= 2; thread++) {
        uint32_t node;
        trace_sample_add_thread(sample, names[thread - 1]);
        node = trace_sample_add_node(sample, thread, trace_sample_thread(sample, thread)->root, 0,
                                     1, 1, 90000000);
        node = trace_sample_add_node(sample, thread, node, 0, 2, 1, 80000000);
        trace_sample_add_node(sample, thread, node, 0, 2, 2692536, 79000000);
    }
}

int main(int argc, char **argv)
{
    struct trace_sample sample;

    if (argc != 2)
        return 2;
    folder = argv[1];

    begin(&sample);
    write_sample(&sample, "whole");

    begin(&sample);
    sample.size -= 1000;
    write_sample(&sample, "cut");

    begin(&sample);
    trace_sample_header(&sample)->version = 9;
    write_sample(&sample, "version");

    begin(&sample);
    trace_sample_thread(&sample, 2)->unwound = 5;
    write_sample(&sample, "unbalanced");

    begin(&sample);
    trace_sample_header(&sample)->state = TRACE_RUNNING;
    trace_sample_thread(&sample, 1)->state = TRACE_THREAD_RUNNING;
    trace_sample_node(&sample, trace_sample_thread(&sample, 1)->root + 1)->exits = 0;
    write_sample(&sample, "killed");

    trace_sample_begin(&sample, 4243, "./nothing");
    trace_sample_header(&sample)->state = TRACE_PREPARED;
    trace_sample_header(&sample)->used = 0;
    write_sample(&sample, "prepared");
    return 0;
}
