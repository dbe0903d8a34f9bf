#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trace/event_codec.h"

#include <cmocka.h>

#define WORDS EVENT_SEGMENT_WORDS

static struct event_columns columns;
static struct event_decoder decoder;
static uint64_t state;

static uint32_t random_below(uint32_t limit)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33) % limit;
}

struct events {
    struct event list[WORDS];
    size_t count;
};

static bool keep(void *user, const struct event *event)
{
    struct events *events = user;

    assert_true(events->count < WORDS);
    events->list[events->count++] = *event;
    return true;
}

static bool drop(void *user, const struct event *event)
{
    (void)user;
    assert_int_not_equal(event->node, 0);
    return true;
}

static uint64_t entry(uint32_t node, uint32_t ticks)
{
    return (uint64_t)node << EVENT_NODE_SHIFT | ticks;
}

/* What a program without surprises leaves, with some: ends that are not innermost, time bases. */
static size_t fill(uint64_t words[WORDS], uint32_t surprises)
{
    uint32_t open[WORDS], depth = 0, ticks = 0;
    size_t count = 0;

    memset(words, 0, WORDS * sizeof(*words));
    while (count + 4 < WORDS) {
        uint32_t what = random_below(1000);

        ticks += random_below(300);
        if (what < surprises && what % 3 == 0) {
            words[count++] = EVENT_END | EVENT_BASE;
            words[count++] = 1000000ull * random_below(1000000);
        } else if (what < surprises && what % 3 == 1) {
            count++; /* torn */
        } else if (what < surprises) {
            words[count++] = EVENT_END | EVENT_UNWOUND;
            words[count++] = entry(1 + random_below(50), ticks) | EVENT_END;
        } else if (depth > 0 && (depth > 200 || random_below(2))) {
            words[count++] = entry(open[--depth], ticks) | EVENT_END;
        } else {
            open[depth] = 1 + random_below(random_below(8) ? 40 : EVENT_LARGEST_NODE);
            words[count++] = entry(open[depth++], ticks);
        }
    }
    return count;
}

static void round_trip(uint32_t surprises)
{
    static uint64_t words[WORDS];
    static struct events before, after;
    size_t count = fill(words, surprises);
    uint64_t base = 1ull << 40;

    before.count = after.count = 0;
    uint32_t torn = event_words_read(words, count, base, keep, &before);
    event_encode(&columns, words, WORDS, base);
    assert_true(columns.shape_bytes <= sizeof(columns.shape));
    assert_int_equal(columns.torn, torn);
    assert_int_equal(columns.events, before.count);
    assert_true(event_decode(&decoder, columns.shape, columns.shape_bytes, columns.times,
                             columns.times_bytes, base, columns.events, keep, &after));
    assert_int_equal(after.count, before.count);
    for (size_t i = 0; i < after.count; i++) {
        assert_int_equal(after.list[i].node, before.list[i].node);
        assert_int_equal(after.list[i].kind, before.list[i].kind);
        assert_int_equal(after.list[i].ticks, before.list[i].ticks);
    }
}

static void what_was_encoded_is_decoded(void **unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++)
        round_trip((uint32_t)i * 4);
}

static void special_words_say_what_they_mean(void **unused)
{
    const uint64_t words[] = {
        entry(7, 10),
        0,
        entry(8, 20),
        EVENT_END | EVENT_BASE,
        5000,
        entry(8, 1) | EVENT_END,
        EVENT_END | EVENT_UNWOUND,
        entry(7, 2) | EVENT_END,
        0,
        0,
    };
    static struct events events;

    (void)unused;
    events.count = 0;
    assert_int_equal(event_words_read(words, 10, 1000, keep, &events), 1);
    assert_int_equal(events.count, 4);
    assert_int_equal(events.list[0].ticks, 1010);
    assert_int_equal(events.list[0].kind, EVENT_KIND_ENTRY);
    assert_int_equal(events.list[2].ticks, 5001);
    assert_int_equal(events.list[2].kind, EVENT_KIND_EXIT);
    assert_int_equal(events.list[3].kind, EVENT_KIND_UNWOUND);
    assert_int_equal(events.list[3].node, 7);
}

static void the_worst_segment_has_room(void **unused)
{
    static uint64_t words[WORDS];

    (void)unused;
    for (size_t i = 0; i < WORDS; i++)
        words[i] = entry(EVENT_LARGEST_NODE - (uint32_t)i, UINT32_MAX * (uint32_t)(i & 1));
    event_encode(&columns, words, WORDS, 0);
    assert_int_equal(columns.events, WORDS);
    for (size_t i = 0; i < WORDS; i++)
        words[i] |= EVENT_END;
    event_encode(&columns, words, WORDS, UINT64_MAX / 2);
    assert_int_equal(columns.events, WORDS);
}

/* Nothing outside the columns and the decoder is touched (the sanitizers say so), and it ends. */
static void malformed_columns_are_refused(void **unused)
{
    static uint64_t words[WORDS];
    unsigned refused = 0;

    (void)unused;
    for (int i = 0; i < 300; i++) {
        fill(words, 100);
        event_encode(&columns, words, WORDS, 0);
        for (uint32_t n = random_below(6); n > 0; n--)
            columns.shape[random_below((uint32_t)columns.shape_bytes)] ^= 1 << random_below(8);
        uint8_t *shape = malloc(columns.shape_bytes), *times = malloc(columns.times_bytes);
        memcpy(shape, columns.shape, columns.shape_bytes);
        memcpy(times, columns.times, columns.times_bytes);
        refused +=
            !event_decode(&decoder, shape, columns.shape_bytes, times,
                          columns.times_bytes - random_below(2), 0, columns.events, drop, NULL);
        free(shape);
        free(times);
    }
    assert_true(refused > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_encoded_is_decoded),
        cmocka_unit_test(special_words_say_what_they_mean),
        cmocka_unit_test(the_worst_segment_has_room),
        cmocka_unit_test(malformed_columns_are_refused),
    };

    state = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 10) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
