#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "service/sampling/linux/sample_ring.h"

#include <cmocka.h>

#define RING_SIZE  8192u
#define STACK_SIZE (SAMPLE_RING_STACK_WORDS * 8u)

/* A ring as the kernel fills it, byte by byte. */
struct writer {
    unsigned char bytes[RING_SIZE];
    uint64_t head;
};

static void put(struct writer *writer, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        writer->bytes[writer->head++ % RING_SIZE] = ((const unsigned char *)bytes)[i];
}

static void put_word(struct writer *writer, uint64_t word)
{
    put(writer, &word, sizeof(word));
}

static void put_pair(struct writer *writer, uint32_t first, uint32_t second)
{
    put_word(writer, first | (uint64_t)second << 32);
}

static void put_header(struct writer *writer, uint32_t type, uint16_t misc, size_t size)
{
    struct perf_event_header header = {type, misc, (uint16_t)size};

    put(writer, &header, sizeof(header));
}

/* Its stack's words are 1000, 1001 and so on; `read` of its bytes could be read. */
static void put_sample(struct writer *writer, uint64_t event, uint64_t address, uint64_t read)
{
    put_header(writer, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 8 + 3 * 8 + 8 + STACK_SIZE + 8);
    put_word(writer, event);
    put_word(writer, address);
    put_pair(writer, 70, 71);
    put_word(writer, STACK_SIZE);
    for (uint64_t i = 0; i < SAMPLE_RING_STACK_WORDS; i++)
        put_word(writer, 1000 + i);
    put_word(writer, read);
}

static void put_sample_without_stack(struct writer *writer, uint64_t event)
{
    put_header(writer, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 8 + 3 * 8 + 8);
    put_word(writer, event);
    put_word(writer, 0x401000);
    put_pair(writer, 70, 71);
    put_word(writer, 0);
}

static void put_lost(struct writer *writer, uint64_t event, uint64_t count)
{
    put_header(writer, PERF_RECORD_LOST, 0, 8 + 2 * 8);
    put_word(writer, event);
    put_word(writer, count);
}

static bool next(const struct writer *writer, uint64_t *tail, struct ring_record *record)
{
    return sample_ring_next(&(struct sample_ring){writer->bytes, RING_SIZE}, writer->head, tail,
                            record);
}

static void expect_sample(const struct writer *writer, uint64_t *tail, uint64_t event,
                          size_t stack_words)
{
    struct ring_record record;

    assert_true(next(writer, tail, &record));
    assert_int_equal(record.kind, RING_SAMPLE);
    assert_int_equal(record.event, event);
    assert_int_equal(record.pid, 70);
    assert_int_equal(record.tid, 71);
    assert_int_equal(record.stack_words, stack_words);
    for (size_t i = 0; i < stack_words; i++)
        assert_int_equal(record.stack[i], 1000 + i);
}

/* Wherever the ring's end cuts them. */
static void records_are_read_around_the_end(void **state)
{
    (void)state;
    for (uint64_t begin = 0; begin < RING_SIZE; begin += 8) {
        struct writer writer = {.head = UINT64_C(1) << 40 | begin};
        uint64_t tail = writer.head;
        struct ring_record record;

        put_sample(&writer, 5, 0x401000, STACK_SIZE);
        put_lost(&writer, 6, 12);
        put_sample_without_stack(&writer, 7);
        put_sample(&writer, 8, 0x402000, 24);
        expect_sample(&writer, &tail, 5, SAMPLE_RING_STACK_WORDS);
        assert_true(next(&writer, &tail, &record));
        assert_int_equal(record.kind, RING_LOST);
        assert_int_equal(record.event, 6);
        assert_int_equal(record.lost, 12);
        expect_sample(&writer, &tail, 7, 0);
        expect_sample(&writer, &tail, 8, 3);
        assert_false(next(&writer, &tail, &record));
        assert_int_equal(tail, writer.head);
    }
}

static void what_is_unknown_is_passed_over(void **state)
{
    struct writer writer = {0};
    struct ring_record record;
    uint64_t tail = 0;

    (void)state;
    put_header(&writer, 4711, 0, 24);
    put_word(&writer, 1);
    put_word(&writer, 2);
    put_header(&writer, PERF_RECORD_THROTTLE, 0, 32);
    for (int i = 0; i < 3; i++)
        put_word(&writer, 0);
    put_header(&writer, PERF_RECORD_COMM, 0, 24); /* a thread that took another name */
    put_pair(&writer, 70, 71);
    put_word(&writer, 'x');
    put_header(&writer, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 24);
    put_pair(&writer, 70, 71);
    put_word(&writer, 'x');
    put_sample(&writer, 5, 0x401000, 16);
    for (int i = 0; i < 3; i++) {
        assert_true(next(&writer, &tail, &record));
        assert_int_equal(record.kind, RING_OTHER);
    }
    assert_true(next(&writer, &tail, &record));
    assert_int_equal(record.kind, RING_EXEC);
    assert_int_equal(record.pid, 70);
    expect_sample(&writer, &tail, 5, 2);
}

/* What cannot be a record ends the reading, at the head. */
static void expect_end(const struct writer *writer, uint64_t tail)
{
    struct ring_record record;

    assert_false(next(writer, &tail, &record));
    assert_int_equal(tail, writer->head);
}

static void damage_ends_the_reading(void **state)
{
    struct writer none = {0}, empty = {0}, tiny = {0}, longer = {0}, overrun = {0}, cut = {0};

    (void)state;
    expect_end(&none, 0);
    put_header(&empty, PERF_RECORD_SAMPLE, 0, 0);
    expect_end(&empty, 0);
    put_header(&tiny, PERF_RECORD_SAMPLE, 0, 7);
    expect_end(&tiny, 0);
    put_header(&longer, PERF_RECORD_SAMPLE, 0, 16);
    expect_end(&longer, 0);
    overrun.head = RING_SIZE + 8; /* the ring cannot hold that much */
    expect_end(&overrun, 0);
    cut.head = 4;
    expect_end(&cut, 0);
    expect_end(&cut, 8); /* a tail before its head */
}

static void samples_that_are_too_short_are_none(void **state)
{
    (void)state;
    for (size_t size = 8; size < 32; size++) {
        struct writer writer = {0};
        struct ring_record record;
        uint64_t tail = 0;

        put_header(&writer, PERF_RECORD_SAMPLE, 0, size);
        writer.head = size;
        assert_true(next(&writer, &tail, &record));
        assert_int_equal(record.kind, RING_OTHER);
        assert_int_equal(tail, size);
    }
}

/* The stack says to be longer than the record, or that more of it was read than there is. */
static void stacks_stay_in_their_record(void **state)
{
    static const uint64_t sizes[] = {STACK_SIZE + 8, STACK_SIZE + 1, UINT64_MAX, UINT64_MAX - 7};
    struct ring_record record;

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct writer writer = {0};
        uint64_t tail = 0;

        put_sample(&writer, 5, 0x401000, STACK_SIZE);
        memcpy(writer.bytes + 32, &sizes[i], sizeof(sizes[i]));
        expect_sample(&writer, &tail, 5, 0);

        writer.head = tail = 0;
        put_sample(&writer, 5, 0x401000, sizes[i]);
        expect_sample(&writer, &tail, 5, 0);
        assert_false(next(&writer, &tail, &record));
    }
}

/* Whatever is in the ring: each record moves the tail, and no further than the head. */
static void noise_is_harmless(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        struct writer writer = {.head = (uint64_t)rand() % RING_SIZE};
        uint64_t tail = writer.head, before;
        struct ring_record record;

        for (int i = 0; i < 3; i++)
            put_sample(&writer, 5, 0x401000, STACK_SIZE);
        for (int i = 0; i < 8; i++)
            writer.bytes[(tail + (uint64_t)rand() % (writer.head - tail)) % RING_SIZE] =
                (unsigned char)(rand() >> 8);
        writer.bytes[(tail + 6) % RING_SIZE] = (unsigned char)(rand() >> 8);
        for (before = tail; next(&writer, &tail, &record); before = tail) {
            assert_true(tail > before && tail <= writer.head);
            assert_true(record.stack_words <= SAMPLE_RING_STACK_WORDS);
        }
        assert_int_equal(tail, writer.head);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_read_around_the_end),
        cmocka_unit_test(what_is_unknown_is_passed_over),
        cmocka_unit_test(damage_ends_the_reading),
        cmocka_unit_test(samples_that_are_too_short_are_none),
        cmocka_unit_test(stacks_stay_in_their_record),
        cmocka_unit_test(noise_is_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
