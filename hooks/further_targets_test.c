/* Further targets of calls by pointers: where the table of a thread has them, as sites look. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "hooks/further_targets.h"

#include <cmocka.h>

static struct frame_words words;
static struct thread thread;
static struct trace_link links[40000];

static int begin(void **state)
{
    (void)state;
    words = (struct frame_words){0};
    thread = (struct thread){.frames = &words};
    return 0;
}

static int end(void **state)
{
    (void)state;
    further_targets_release(&thread);
    return 0;
}

static const struct pointer_links *site_at(uint64_t number)
{
    return (const struct pointer_links *)(0x7f0000000000 + 64 * number);
}

static uint64_t target_at(uint64_t number)
{
    return 0x555555550000 + 0x30 * number;
}

static void add(uint64_t site, uint64_t target, uint64_t number)
{
    const struct further_target further = {(uint64_t)site_at(site), target_at(target),
                                           &links[number], number};

    further_target_add(&thread, &further);
}

/* As the code of a site does it (rewriter/copy/frame_pointers.h). */
static uint64_t look(uint64_t site, uint64_t target)
{
    uint64_t a = target_at(target) * (uint64_t)(int64_t)(int32_t)FURTHER_HASH;
    const struct further_target *entry;

    if (!words.further)
        return 0;
    a = (uint32_t)(a + (uint64_t)site_at(site)) & words.further_mask;
    entry = (const struct further_target *)(words.further + a);
    for (int i = 0; i < FURTHER_PLACES; i++, entry++)
        if (entry->site == (uint64_t)site_at(site) && entry->target == target_at(target))
            return entry->go;
    return 0;
}

static void nothing_is_known_at_first(void **state)
{
    (void)state;
    assert_null(further_target_find(&thread, site_at(1), target_at(1)));
    assert_int_equal(look(1, 1), 0);
}

static void sites_and_the_agent_find_the_same(void **state)
{
    uint64_t found = 0;

    (void)state;
    for (uint64_t i = 1; i < 20000; i++)
        add(i % 700, i / 700, i);
    for (uint64_t i = 1; i < 20000; i++) {
        const struct trace_link *link =
            further_target_find(&thread, site_at(i % 700), target_at(i / 700));

        assert_true(!link || link == &links[i]);
        assert_int_equal(look(i % 700, i / 700), link ? i : 0);
        found += link != NULL;
    }
    assert_true(found > 19500); /* what has no place is forgotten */
    assert_null(further_target_find(&thread, site_at(700), target_at(1)));
    assert_int_equal(look(3, 1000), 0);
}

/* Between any two of its instructions a site may be interrupted by a handler that adds. */
static void a_table_that_was_too_small_stays(void **state)
{
    const struct further_target *old;
    uint32_t mask;

    (void)state;
    add(1, 1, 5);
    old = (const struct further_target *)words.further;
    mask = words.further_mask;
    for (uint64_t i = 1; i < 2000; i++)
        add(2, i, i);
    assert_true(words.further_mask > mask && words.further != (uint64_t)old);
    for (uint32_t i = 0; i <= mask / sizeof(*old); i++)
        if (old[i].site == (uint64_t)site_at(1) && old[i].target == target_at(1))
            return;
    fail();
}

static void there_is_an_end(void **state)
{
    uint64_t count = 0;

    (void)state;
    while (further_target_has_room(&thread)) {
        add(count % 1000, count / 1000, count);
        assert_true(++count < 40000);
    }
    assert_int_equal(count, 32768);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_known_at_first, begin, end),
        cmocka_unit_test_setup_teardown(sites_and_the_agent_find_the_same, begin, end),
        cmocka_unit_test_setup_teardown(a_table_that_was_too_small_stays, begin, end),
        cmocka_unit_test_setup_teardown(there_is_an_end, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
