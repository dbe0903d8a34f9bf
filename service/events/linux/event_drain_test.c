#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/base/file.h"
#include "service/events/linux/event_drain.h"
#include "service/events/linux/event_ring.h"
#include "trace/event_reader.h"

#include <cmocka.h>

#define RING (16 * EVENT_SEGMENT_SIZE)

struct place {
    char path[64], trace[96];
    int directory;
    struct event_packer *packer;
};

static const struct trace_header header = {.pid = 42, .session = 3, .created_ns = 7};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    if (!place)
        return -1;
    strcpy(place->path, "/tmp/umbra-drain-XXXXXX");
    if (!mkdtemp(place->path))
        return -1;
    snprintf(place->trace, sizeof(place->trace), "%s/program-42-3.bin", place->path);
    place->directory = open(place->path, O_RDONLY | O_DIRECTORY);
    place->packer = event_packer_new();
    *state = place;
    return place->directory < 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    char command[96];
    int status;

    snprintf(command, sizeof(command), "rm -r '%s'", place->path);
    status = system(command);
    close(place->directory);
    event_packer_free(place->packer);
    free(place);
    return status;
}

/* Plays a thread: takes the segment i and fills it with calls of one node, never closed. */
static void fill(struct event_drain *drain, uint32_t i, uint32_t state)
{
    struct event_segment *segment =
        (struct event_segment *)((char *)drain->ring + EVENT_RING_HEADER + i * EVENT_SEGMENT_SIZE);
    uint64_t *words = (uint64_t *)(segment + 1);
    static uint64_t noise = 1;

    assert_int_equal(segment->state, EVENT_SEGMENT_FREE);
    segment->thread = 1;
    segment->sequence = ++drain->ring->sequence;
    segment->base = segment->sequence << 33;
    for (uint32_t n = 0; n < EVENT_SEGMENT_WORDS; n++) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        words[n] = 9ull << EVENT_NODE_SHIFT | (n + 1) * 1000 | noise >> 55;
    }
    segment->state = state;
    if (drain->ring->touched < i + 1)
        drain->ring->touched = i + 1;
}

static struct event_totals read_back(const struct place *place)
{
    struct event_visitor visitor = {0};
    struct event_totals totals;
    struct failure failure;

    assert_true(event_files_read(place->trace, &header, &visitor, &totals, &failure));
    return totals;
}

static bool exists(const struct place *place, const char *name)
{
    return faccessat(place->directory, name, F_OK, 0) == 0;
}

static struct event_drain open_drain(const struct place *place, const struct event_policy *policy)
{
    struct event_drain drain;

    assert_true(event_drain_open(&drain, policy, place->packer, place->directory,
                                 "program-42-3.bin", &header));
    assert_int_equal(drain.ring->segment_count, 16);
    return drain;
}

static void what_is_full_is_written_and_given_back(void **state)
{
    const struct event_policy policy = {.ring_size = RING};
    struct place *place = *state;
    struct event_drain drain = open_drain(place, &policy);

    fill(&drain, 3, EVENT_SEGMENT_FULL);
    fill(&drain, 1, EVENT_SEGMENT_FILLING);
    assert_int_equal(event_drain_turn(&drain), 1);
    assert_int_equal(event_drain_turn(&drain), 0);
    assert_true(event_ring_save(drain.ring_file, place->directory, "program-42-3"));
    assert_int_equal(read_back(place).segments, 2);
    assert_int_equal(read_back(place).from_ring, 1);
    unlinkat(place->directory, "program-42-3.ring", 0);
    fill(&drain, 3, EVENT_SEGMENT_FILLING);
    drain.ring->dropped = 5;
    event_drain_end(&drain);
    assert_false(exists(place, "program-42-3.ring"));
    assert_int_equal(read_back(place).segments, 3);
    assert_int_equal(read_back(place).events, 3 * EVENT_SEGMENT_WORDS);
    assert_int_equal(read_back(place).dropped, 5);
}

static void past_the_limit_events_are_counted(void **state)
{
    const struct event_policy policy = {.ring_size = RING, .disk_size = 50000};
    struct place *place = *state;
    struct event_drain drain = open_drain(place, &policy);
    struct event_totals totals;
    struct stat stat_of;

    for (uint32_t i = 0; i < 16; i++)
        fill(&drain, i, EVENT_SEGMENT_FULL);
    assert_true(event_drain_turn(&drain) < 16);
    assert_int_equal(drain.ring->stopped, 1);
    event_drain_end(&drain);
    totals = read_back(place);
    assert_true(totals.segments > 0);
    assert_int_equal(totals.events + totals.dropped, 16 * EVENT_SEGMENT_WORDS);
    fstatat(place->directory, "program-42-3.events", &stat_of, 0);
    assert_true(stat_of.st_size <= 50000);
    assert_false(exists(place, "program-42-3.ring"));
}

static void a_flight_recorder_keeps_the_newest(void **state)
{
    const struct event_policy policy = {
        .ring_size = RING, .disk_size = 400000, .keep_newest = true};
    struct place *place = *state;
    struct event_drain drain = open_drain(place, &policy);
    struct event_totals totals;

    for (int round = 0; round < 10; round++) {
        for (uint32_t i = 0; i < 16; i++)
            fill(&drain, i, EVENT_SEGMENT_FULL);
        assert_int_equal(event_drain_turn(&drain), 16);
    }
    event_drain_end(&drain);
    totals = read_back(place);
    assert_true(totals.gone > 0);
    assert_true(totals.events > 10 * EVENT_SEGMENT_WORDS);
    assert_int_equal(totals.events + totals.gone, 160ull * EVENT_SEGMENT_WORDS);
    assert_false(exists(place, "program-42-3.events.1"));
}

/* The next service goes on with it; what it cannot write into the chunks of the first is saved. */
static void an_adopted_ring_is_saved_at_the_end(void **state)
{
    const struct event_policy policy = {.ring_size = RING};
    struct place *place = *state;
    struct event_drain first = open_drain(place, &policy), second;

    fill(&first, 0, EVENT_SEGMENT_FULL);
    event_drain_turn(&first);
    event_drain_adopt(&second, place->directory, "program-42-3.bin", dup(first.ring_file));
    event_drain_leave(&first);
    fill(&second, 0, EVENT_SEGMENT_FULL);
    fill(&second, 5, EVENT_SEGMENT_FILLING);
    assert_int_equal(event_drain_turn(&second), 0);
    event_drain_end(&second);
    assert_int_equal(read_back(place).events, 3 * EVENT_SEGMENT_WORDS);
    assert_int_equal(read_back(place).from_ring, 2);
}

/* Nobody makes it larger, or cuts it under a program that writes to it. */
static void a_ring_cannot_be_cut(void **state)
{
    const struct event_policy policy = {.ring_size = RING};
    struct event_drain drain = open_drain(*state, &policy);

    assert_int_equal(ftruncate(drain.ring_file, 0), -1);
    assert_int_equal(ftruncate(drain.ring_file, 2 * RING), -1);
    event_drain_end(&drain);
}

static void what_a_killed_service_leaves_is_whole(void **state)
{
    const struct event_policy policy = {.ring_size = RING};
    struct place *place = *state;
    struct event_drain drain = open_drain(place, &policy);

    fill(&drain, 0, EVENT_SEGMENT_FULL);
    event_drain_turn(&drain);
    fill(&drain, 0, EVENT_SEGMENT_FULL);
    fill(&drain, 1, EVENT_SEGMENT_FILLING);
    assert_true(event_ring_save(drain.ring_file, place->directory, "program-42-3"));
    close(drain.ring_file);
    close(drain.file);
    file_unmap(drain.ring, drain.ring_size);
    assert_int_equal(read_back(place).events, 3 * EVENT_SEGMENT_WORDS);
}

static void a_taken_name_is_an_error(void **state)
{
    const struct event_policy policy = {.ring_size = RING};
    struct place *place = *state;
    struct event_drain drain;

    assert_int_equal(symlinkat("elsewhere", place->directory, "program-42-3.events"), 0);
    assert_false(event_drain_open(&drain, &policy, place->packer, place->directory,
                                  "program-42-3.bin", &header));
    assert_false(exists(place, "program-42-3.ring"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_full_is_written_and_given_back),
        TEST(past_the_limit_events_are_counted),
        TEST(a_flight_recorder_keeps_the_newest),
        TEST(what_a_killed_service_leaves_is_whole),
        TEST(an_adopted_ring_is_saved_at_the_end),
        TEST(a_ring_cannot_be_cut),
        TEST(a_taken_name_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
