#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/event_chunk.h"
#include "trace/event_reader.h"

#include <cmocka.h>

#define SEGMENTS 4

static struct trace_header header = {.pid = 42, .created_ns = 7};

struct place {
    char folder[64], trace[96], events[96], ring[96];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    if (!place)
        return -1;
    strcpy(place->folder, "/tmp/umbra-events-XXXXXX");
    if (!mkdtemp(place->folder))
        return -1;
    snprintf(place->trace, sizeof(place->trace), "%s/a.bin", place->folder);
    snprintf(place->events, sizeof(place->events), "%s/a.events", place->folder);
    snprintf(place->ring, sizeof(place->ring), "%s/a.ring", place->folder);
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    char command[96];
    int status;

    snprintf(command, sizeof(command), "rm -r '%s'", place->folder);
    status = system(command);
    free(place);
    return status;
}

/* A segment of three events of which the second is the sequence's own node. */
static void fill(uint64_t *words, uint64_t sequence)
{
    memset(words, 0, EVENT_SEGMENT_WORDS * sizeof(*words));
    words[0] = 5ull << EVENT_NODE_SHIFT | 1;
    words[1] = (100 + sequence) << EVENT_NODE_SHIFT | 2;
    words[2] = (100 + sequence) << EVENT_NODE_SHIFT | EVENT_END | 3;
}

static void write_events(const char *path, uint64_t first, uint64_t last, uint64_t gone)
{
    struct event_file_header file_header = {
        .version = EVENT_VERSION, .pid = header.pid, .created_ns = header.created_ns, .gone = gone};
    struct event_packer *packer = event_packer_new();
    uint64_t words[EVENT_SEGMENT_WORDS];
    FILE *file = fopen(path, "w");

    memcpy(file_header.magic, EVENT_FILE_MAGIC, sizeof(file_header.magic));
    fwrite(&file_header, sizeof(file_header), 1, file);
    for (uint64_t sequence = first; sequence <= last; sequence++) {
        struct event_segment segment = {
            .thread = 1, .sequence = sequence, .base = sequence * 1000, .dropped = sequence == 2};
        const struct event_chunk *chunk;

        fill(words, sequence);
        chunk = event_pack(packer, &segment, words);
        assert_int_equal(fwrite(chunk, chunk->size, 1, file), 1);
    }
    fclose(file);
    event_packer_free(packer);
}

static void write_ring(const char *path, uint64_t first)
{
    struct event_ring ring = {
        .version = EVENT_VERSION, .segment_size = EVENT_SEGMENT_SIZE, .segment_count = SEGMENTS};
    static uint8_t image[EVENT_RING_HEADER + SEGMENTS * EVENT_SEGMENT_SIZE];
    FILE *file = fopen(path, "w");

    memset(image, 0, sizeof(image));
    memcpy(ring.magic, EVENT_RING_MAGIC, sizeof(ring.magic));
    memcpy(image, &ring, sizeof(ring));
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        struct event_segment segment = {.state =
                                            i == 3 ? EVENT_SEGMENT_FREE : EVENT_SEGMENT_FILLING,
                                        .thread = 1,
                                        .sequence = first + i,
                                        .base = (first + i) * 1000};
        uint8_t *at = image + EVENT_RING_HEADER + i * EVENT_SEGMENT_SIZE;

        memcpy(at, &segment, sizeof(segment));
        fill((uint64_t *)(at + sizeof(segment)), first + i);
    }
    assert_int_equal(fwrite(image, sizeof(image), 1, file), 1);
    fclose(file);
}

struct seen {
    uint64_t nodes, ends, segments, last_sequence;
};

static void see_segment(void *user, uint32_t thread, uint64_t sequence, uint64_t dropped)
{
    struct seen *seen = user;

    assert_int_equal(thread, 1);
    assert_int_equal(dropped, sequence == 2);
    assert_true(sequence > seen->last_sequence);
    seen->last_sequence = sequence;
    seen->segments++;
}

static void see_event(void *user, uint32_t thread, const struct event *event)
{
    struct seen *seen = user;

    assert_int_equal(thread, 1);
    if (event->kind == EVENT_KIND_ENTRY && event->node != 5)
        seen->nodes += event->node - 100;
    seen->ends += event->kind == EVENT_KIND_EXIT;
}

static bool read_all(const struct place *place, struct seen *seen, struct event_totals *totals)
{
    const struct event_visitor visitor = {.user = seen, .segment = see_segment, .event = see_event};
    struct failure failure = {""};
    bool is_read;

    *seen = (struct seen){0};
    is_read = event_files_read(place->trace, &header, &visitor, totals, &failure);
    if (!is_read)
        print_message("%s\n", failure.text);
    return is_read;
}

static void what_the_ring_still_has_is_read_once(void **state)
{
    struct place *place = *state;
    struct event_totals totals;
    struct seen seen;

    assert_false(event_files_exist(place->trace));
    write_events(place->events, 1, 6, 0);
    assert_true(event_files_exist(place->trace));
    write_ring(place->ring, 5); /* 5 and 6 were written already, 7 was not, 8 is free */
    assert_true(read_all(place, &seen, &totals));
    assert_int_equal(seen.nodes, 1 + 2 + 3 + 4 + 5 + 6 + 7);
    assert_int_equal(totals.segments, 7);
    assert_int_equal(totals.from_ring, 1);
    assert_int_equal(totals.events, 21);
    assert_int_equal(totals.dropped, 1);
    unlink(place->ring);
}

static void pieces_are_read_in_order(void **state)
{
    struct place *place = *state;
    struct event_totals totals;
    struct seen seen;
    char path[128];

    unlink(place->events);
    for (unsigned piece = 9; piece <= 11; piece++) {
        snprintf(path, sizeof(path), "%s.%u", place->events, piece);
        write_events(path, piece, piece, piece * 10);
    }
    assert_true(read_all(place, &seen, &totals));
    assert_int_equal(seen.nodes, 9 + 10 + 11);
    assert_int_equal(totals.gone, 110);
}

static void a_cut_file_is_read_up_to_its_last_whole_chunk(void **state)
{
    struct place *place = *state;
    struct event_totals totals;
    struct stat stat_of;
    struct seen seen;

    write_events(place->events, 1, 3, 0);
    assert_int_equal(stat(place->events, &stat_of), 0);
    for (off_t cut = 1; cut < 60; cut += 7) {
        write_events(place->events, 1, 3, 0);
        assert_int_equal(truncate(place->events, stat_of.st_size - cut), 0);
        assert_true(read_all(place, &seen, &totals));
        assert_int_equal(totals.segments, 2);
        assert_true(totals.cut > 0);
    }
}

static void strangers_are_refused(void **state)
{
    struct place *place = *state;
    struct event_totals totals;
    struct seen seen;
    FILE *file;

    write_events(place->events, 1, 1, 0);
    header.pid = 43;
    assert_false(read_all(place, &seen, &totals));
    header.pid = 42;
    file = fopen(place->events, "w");
    for (int i = 0; i < 100; i++)
        fputs("nonsense", file);
    fclose(file);
    assert_false(read_all(place, &seen, &totals));
}

/* In the first chunk's header, whose size is looked at first, and its columns. */
static void a_flipped_bit_is_noticed(void **state)
{
    struct place *place = *state;
    struct event_totals totals;
    struct seen seen;

    for (size_t i = sizeof(uint32_t); i < sizeof(struct event_chunk) + 2; i++) {
        long at = (long)(sizeof(struct event_file_header) + i);
        FILE *file;
        int byte;

        write_events(place->events, 1, 3, 0);
        file = fopen(place->events, "r+");
        fseek(file, at, SEEK_SET);
        byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 1, file);
        fclose(file);
        assert_false(read_all(place, &seen, &totals));
        assert_int_equal(seen.segments, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_the_ring_still_has_is_read_once, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(pieces_are_read_in_order, make_place, remove_place),
        cmocka_unit_test_setup_teardown(a_cut_file_is_read_up_to_its_last_whole_chunk, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(strangers_are_refused, make_place, remove_place),
        cmocka_unit_test_setup_teardown(a_flipped_bit_is_noticed, make_place, remove_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
