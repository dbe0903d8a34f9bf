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

/* Writes what copied bodies do, which count calls themselves: of 1 + 1000 calls of function 2 from
   one place of main, and 500 from another, one was timed; of a leaf below each, none. */
static void write_links(void)
{
    struct trace_sample sample;
    uint32_t main, first, second, leaf;
    size_t links, first_links, second_links;

    trace_sample_begin(&sample, 4244, "./copied");
    trace_sample_header(&sample)->timing = TRACE_TIMING_NONE;
    trace_sample_add_thread(&sample, "main");
    main = trace_sample_add_node(&sample, 1, trace_sample_thread(&sample, 1)->root, 0, 1, 1, 0);
    first = trace_sample_add_node(&sample, 1, main, 0x1010, 2, 1, 0);
    second = trace_sample_add_node(&sample, 1, main, 0x1020, 2, 0, 0);
    leaf = trace_sample_add_node(&sample, 1, first, 0x1030, 3 | TRACE_FUNCTION_LEAF, 0, 0);
    links = trace_sample_add_links(&sample, main, 3);
    first_links = trace_sample_add_links(&sample, first, 1);
    second_links = trace_sample_add_links(&sample, second, 1);
    trace_sample_call(&sample, links, 0, first_links, 1000);
    trace_sample_call(&sample, links, 2, second_links, 500);
    trace_sample_call_node(&sample, first_links, 0, leaf, 4000);
    leaf = trace_sample_add_node(&sample, 1, second, 0x1030, 3 | TRACE_FUNCTION_LEAF, 0, 0);
    trace_sample_node(&sample, leaf)->passed = 20; /* called by who knows what */
    trace_sample_call_node(&sample, second_links, 0, leaf, 600);
    trace_sample_links(&sample, second_links)->entered = 30;
    write_sample(&sample, "links");
}

/* Writes a trace with instructions: main executed 100, its callee, in 3 calls, `count`. */
static void write_counted(const char *name, uint64_t count)
{
    struct trace_sample sample;
    uint32_t main, callee;

    trace_sample_begin(&sample, 4245, "./counted");
    trace_sample_header(&sample)->timing = TRACE_TIMING_NONE;
    trace_sample_add_module(&sample, "/nowhere/counted", 0x1000, 0x1000, 1, 2, 5);
    trace_sample_count_modules(&sample);
    trace_sample_add_thread(&sample, "main");
    main = trace_sample_add_node(&sample, 1, trace_sample_thread(&sample, 1)->root, 0, 1, 1, 0);
    callee = trace_sample_add_node(&sample, 1, main, 0x1010, 2, 3, 0);
    trace_sample_add_instructions(&sample, main, 100);
    trace_sample_add_instructions(&sample, callee, count);
    write_sample(&sample, name);
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
    trace_sample_header(&sample)->version = TRACE_VERSION + 1;
    write_sample(&sample, "version");

    begin(&sample);
    trace_sample_thread(&sample, 2)->unwound = 5;
    write_sample(&sample, "unbalanced");

    begin(&sample);
    trace_sample_header(&sample)->state = TRACE_RUNNING;
    trace_sample_thread(&sample, 1)->state = TRACE_THREAD_RUNNING;
    trace_sample_node(&sample, trace_sample_thread(&sample, 1)->root + 1)->exits = 0;
    write_sample(&sample, "killed");

    write_links();
    write_counted("counted", 45);
    write_counted("counted_again", 46);

    trace_sample_begin(&sample, 4243, "./nothing");
    trace_sample_header(&sample)->state = TRACE_PREPARED;
    trace_sample_header(&sample)->used = 0;
    write_sample(&sample, "prepared");
    return 0;
}
