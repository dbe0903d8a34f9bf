/*
 * A large call-trace recording, for measuring the grinder:
 *
 *      large_sample NAME CONTEXTS EVENTS       writes NAME.bin, and NAME.events if EVENTS is not 0
 *
 * One thread walks at random over a tree of contexts in which each has 4 below it, down to the
 * leaves: so most calls are short ones far out. A tick is a nanosecond; 20 to 83 between events.
 * Without events each context was called once. It is the same each time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event_chunk.h"
#include "trace/trace_sample.h"

#define BELOW     4
#define FUNCTIONS 1000
#define PID       4711

struct recording {
    struct trace_sample sample;
    uint32_t *nodes; /* by place in the tree, BELOW * i + 1 … below i; 0 is the root's */
    size_t contexts;
    uint64_t random;

    FILE *file;
    struct event_packer *packer;
    struct event_segment segment;
    uint64_t words[EVENT_SEGMENT_WORDS];
    size_t word_count;
    uint64_t ticks;
};

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "large_sample: %s\n", what);
    exit(EXIT_FAILURE);
}

static uint32_t random_bits(struct recording *recording)
{
    recording->random = recording->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(recording->random >> 33);
}

static void make_tree(struct recording *recording)
{
    struct trace_sample *sample = &recording->sample;
    uint32_t ordinal;

    trace_sample_begin(sample, PID, "large");
    ordinal = trace_sample_add_thread(sample, "main");
    recording->nodes = calloc(recording->contexts + 1, sizeof(*recording->nodes));
    check(recording->nodes, "out of memory");
    recording->nodes[0] = trace_sample_thread(sample, ordinal)->root;
    for (size_t i = 1; i <= recording->contexts; i++)
        recording->nodes[i] =
            trace_sample_add_node(sample, ordinal, recording->nodes[(i - 1) / BELOW], 0x1000 + i,
                                  (uint32_t)(i % FUNCTIONS) + 1, 0, 0);
}

static void write_segment(struct recording *recording)
{
    const struct event_chunk *chunk;

    memset(recording->words + recording->word_count, 0,
           (EVENT_SEGMENT_WORDS - recording->word_count) * sizeof(*recording->words));
    recording->segment.sequence++;
    chunk = event_pack(recording->packer, &recording->segment, recording->words);
    check(fwrite(chunk, chunk->size, 1, recording->file) == 1, "cannot write events");
    recording->segment.base = recording->ticks;
    recording->word_count = 0;
}

static void write_event(struct recording *recording, size_t place, uint64_t flags)
{
    recording->ticks += 20 + random_bits(recording) % 64;
    recording->words[recording->word_count++] =
        (uint64_t)recording->nodes[place] << EVENT_NODE_SHIFT | flags |
        (recording->ticks - recording->segment.base);
    if (recording->word_count == EVENT_SEGMENT_WORDS)
        write_segment(recording);
}

/* Steps down, or up where there is nothing below or half of the times. Ends at the root. */
static void write_walk(struct recording *recording, uint64_t events)
{
    size_t place = 0, depth = 0;

    for (; depth || events > 0; events -= events > 0) {
        size_t below = BELOW * place + 1 + random_bits(recording) % BELOW;
        bool down = below <= recording->contexts && events > depth &&
                    (!depth || random_bits(recording) % 2);
        if (down) {
            place = below;
            depth++;
            trace_sample_node(&recording->sample, recording->nodes[place])->calls++;
            write_event(recording, place, 0);
        } else {
            write_event(recording, place, EVENT_END);
            place = (place - 1) / BELOW;
            depth--;
        }
    }
}

static void write_events(struct recording *recording, const char *path, uint64_t events)
{
    const struct trace_header *header = trace_sample_header(&recording->sample);
    struct event_file_header start = {
        .magic = EVENT_FILE_MAGIC,
        .version = EVENT_VERSION,
        .pid = header->pid,
        .created_ns = header->created_ns,
    };

    recording->file = fopen(path, "w");
    recording->packer = event_packer_new();
    check(recording->file && recording->packer, "cannot write events");
    check(fwrite(&start, sizeof(start), 1, recording->file) == 1, "cannot write events");
    recording->ticks = recording->segment.base = header->start_ticks;
    recording->segment.thread = 1;
    write_walk(recording, events);
    if (recording->word_count)
        write_segment(recording);
    check(fclose(recording->file) == 0, "cannot write events");
    event_packer_free(recording->packer);
}

/* Figures that follow from the calls. */
static void finish_tree(struct recording *recording, bool has_events)
{
    for (size_t i = recording->contexts; i > 0; i--) {
        struct trace_node *node = trace_sample_node(&recording->sample, recording->nodes[i]);
        struct trace_node *above =
            trace_sample_node(&recording->sample, recording->nodes[(i - 1) / BELOW]);
        if (!has_events)
            node->calls = 1;
        node->exits = node->calls;
        node->ticks += node->calls * 50;
        above->ticks += node->ticks;
    }
    trace_sample_node(&recording->sample, recording->nodes[0])->ticks = 0;
}

int main(int argc, char **argv)
{
    struct recording *recording = calloc(1, sizeof(*recording));
    uint64_t events = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    char path[4096];
    FILE *file;

    check(argc == 4 && recording, "expected NAME CONTEXTS EVENTS");
    recording->contexts = strtoull(argv[2], NULL, 10);
    make_tree(recording);
    snprintf(path, sizeof(path), "%s.events", argv[1]);
    if (events)
        write_events(recording, path, events);
    finish_tree(recording, events > 0);
    snprintf(path, sizeof(path), "%s.bin", argv[1]);
    file = fopen(path, "w");
    check(file && fwrite(recording->sample.bytes, recording->sample.size, 1, file) == 1 &&
              fclose(file) == 0,
          "cannot write the trace");
    trace_sample_free(&recording->sample);
    free(recording->nodes);
    free(recording);
    return 0;
}
