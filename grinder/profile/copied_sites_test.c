/* Trees whose contexts were called from copies, as those of the original. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "grinder/profile/copied_sites.h"

#include <cmocka.h>

#define PROGRAM 0x550000000000ull
#define LIBRARY 0x7f0000000000ull /* has copies, too */
#define OLD     0x7e0000000000ull /* the program lies where a library was before */
#define COPY    (PROGRAM + 0x6000)
#define MOST    32

enum { MAIN = 1, PARSE, PRINT };
enum { NO_MODULE, OLD_MODULE, LIBRARY_MODULE, PROGRAM_MODULE, MODULES };

/* A call that is in its copy twice, and another one. */
static const struct manifest_site sites[] = {
    {0x6020, 0x1010}, {0x6030, 0x1010}, {0x6040, 0x1018}, {0x6050, 0x1018}};
static const struct manifest_site library_sites[] = {{0x6020, 0x1234}};
static struct image all_images[] = {
    {0},
    {.manifest = {.sites = sites, .site_count = 4}},
    {.manifest = {.sites = library_sites, .site_count = 1}},
    {.manifest = {0}},
};
static const struct images images = {.images = all_images, .count = 4};
static struct tree_module modules[MODULES] = {
    {0},
    {.base = OLD, .size = 0x10000, .image = 2},
    {.base = LIBRARY, .size = 0x10000, .image = 2},
    {.base = PROGRAM, .size = 0x10000, .image = 1},
};
static struct context contexts[MOST];
static struct fold folds[2];
static struct tree_thread thread;
static struct tree tree;

static int begin(void **state)
{
    (void)state;
    memset(contexts, 0, sizeof(contexts));
    memset(folds, 0, sizeof(folds));
    modules[PROGRAM_MODULE].image = 1;
    thread = (struct tree_thread){.root = 1, .contexts = 1};
    tree = (struct tree){.contexts = contexts,
                         .context_count = 2,
                         .committed = 1,
                         .threads = &thread,
                         .thread_count = 1,
                         .modules = modules,
                         .module_count = MODULES,
                         .folds = folds,
                         .fold_count = 2};
    return 0;
}

/* Behind the parent's other children. Called calls times. */
static uint32_t add(uint32_t parent, uint64_t site, uint32_t function, uint64_t calls)
{
    uint32_t slot = (uint32_t)tree.context_count++, *link = &contexts[parent].first_child;

    while (*link)
        link = &contexts[*link].sibling;
    *link = slot;
    contexts[slot] = (struct context){.site = site,
                                      .calls = calls,
                                      .exits = calls - 1,
                                      .passed = calls / 2,
                                      .timed = calls / 3,
                                      .instructions = 100 * calls,
                                      .ticks = 10 * (double)calls,
                                      .parent = parent,
                                      .function = function,
                                      .module = PROGRAM_MODULE};
    thread.contexts++;
    tree.committed++;
    return slot;
}

static void resolve(void)
{
    copied_sites_resolve(&tree, &images);
}

static void expect(uint32_t slot, uint64_t site, uint64_t calls, uint32_t sibling)
{
    assert_int_equal(contexts[slot].site, site);
    assert_int_equal(contexts[slot].calls, calls);
    assert_int_equal(contexts[slot].instructions, 100 * calls);
    assert_int_equal(contexts[slot].sibling, sibling);
}

static void sites_become_the_originals(void **state)
{
    uint32_t main_slot = add(1, 0, MAIN, 1);
    uint32_t parse = add(main_slot, COPY + 0x20, PARSE, 3);
    uint32_t print = add(main_slot, (COPY + 0x40) | TRACE_SITE_TAIL, PRINT, 4);
    uint32_t elsewhere = add(main_slot, COPY + 0x21, PRINT, 5);
    uint32_t original = add(main_slot, PROGRAM + 0x1020, PRINT, 6);
    uint32_t by_library = add(main_slot, LIBRARY + 0x6020, PRINT, 7);

    (void)state;
    resolve();
    expect(parse, PROGRAM + 0x1010, 3, print);
    expect(print, (PROGRAM + 0x1018) | TRACE_SITE_TAIL, 4, elsewhere);
    expect(elsewhere, COPY + 0x21, 5, original);
    expect(original, PROGRAM + 0x1020, 6, by_library);
    expect(by_library, LIBRARY + 0x1234, 7, 0);
    assert_int_equal(thread.contexts, 7);
}

static void the_module_of_the_caller_comes_first(void **state)
{
    uint32_t main_slot = add(1, 0, MAIN, 1), library, parse;

    (void)state;
    library = add(main_slot, 8, PARSE, 1);
    contexts[library].module = OLD_MODULE;
    parse = add(library, OLD + 0x6020, PARSE, 1);
    modules[PROGRAM_MODULE].base = OLD;
    resolve();
    expect(parse, OLD + 0x1234, 1, 0);
    modules[PROGRAM_MODULE].base = PROGRAM;
    modules[PROGRAM_MODULE].image = 3;
    contexts[library].module = PROGRAM_MODULE;
    contexts[parse].site = COPY + 0x20;
    resolve();
    expect(parse, COPY + 0x20, 1, 0);
}

static void the_same_contexts_become_one(void **state)
{
    uint32_t main_slot = add(1, 0, MAIN, 1);
    uint32_t recorded = add(main_slot, COPY + 0x20, PARSE, 6);
    uint32_t next = add(recorded, COPY + 0x40, PRINT, 1);
    uint32_t other = add(main_slot, COPY + 0x40, PARSE, 3);
    uint32_t paused = add(main_slot, COPY + 0x30, PARSE, 12);
    uint32_t again = add(paused, COPY + 0x50, PRINT, 2);
    uint32_t last = add(paused, COPY + 0x20, PRINT, 4);
    uint32_t below = add(again, COPY + 0x20, PRINT, 8);
    uint32_t of_original = add(main_slot, PROGRAM + 0x1010, PARSE, 18);

    (void)state;
    resolve();
    expect(recorded, PROGRAM + 0x1010, 6 + 12 + 18, other);
    assert_int_equal(contexts[recorded].exits, 5 + 11 + 17);
    assert_int_equal(contexts[recorded].passed, 3 + 6 + 9);
    assert_int_equal(contexts[recorded].timed, 2 + 4 + 6);
    assert_true(contexts[recorded].ticks == 360);
    expect(other, PROGRAM + 0x1018, 3, 0);
    assert_int_equal(contexts[recorded].first_child, next);
    expect(next, PROGRAM + 0x1018, 1 + 2, last);
    expect(last, PROGRAM + 0x1010, 4, 0);
    assert_int_equal(contexts[next].first_child, below);
    expect(below, PROGRAM + 0x1010, 8, 0);
    assert_int_equal(contexts[below].parent, again);
    assert_int_equal(contexts[paused].first_child, 0);
    assert_int_equal(contexts[of_original].sibling, 0);
    assert_int_equal(thread.contexts, 10 - 3);
    assert_int_equal(tree.committed, thread.contexts);
}

static void what_differs_in_function_or_by_a_jump_is_not_the_same(void **state)
{
    uint32_t main_slot = add(1, 0, MAIN, 1);
    uint32_t parse = add(main_slot, COPY + 0x20, PARSE, 1);
    uint32_t print = add(main_slot, COPY + 0x30, PRINT, 1);
    uint32_t jump = add(main_slot, (COPY + 0x30) | TRACE_SITE_TAIL, PARSE, 1);

    (void)state;
    resolve();
    expect(parse, PROGRAM + 0x1010, 1, print);
    expect(print, PROGRAM + 0x1010, 1, jump);
    expect(jump, (PROGRAM + 0x1010) | TRACE_SITE_TAIL, 1, 0);
}

static void folded_ones_stay_apart_from_others(void **state)
{
    uint32_t main_slot = add(1, 0, MAIN, 1), body = add(0, TRACE_SITE_FOLDED, PARSE, 0), parse;
    uint32_t folded, folded_too, first, second;

    (void)state;
    contexts[0].first_child = 0;
    contexts[body].fold = thread.first_fold = 1;
    folds[1].slot = body;
    parse = add(main_slot, COPY + 0x20, PARSE, 1);
    folded = add(main_slot, COPY + 0x30, PARSE, 2);
    contexts[folded].fold = 1;
    folded_too = add(parse, COPY + 0x20, PARSE, 4);
    contexts[folded_too].fold = 1;
    folded_too = add(parse, COPY + 0x30, PARSE, 8);
    contexts[folded_too].fold = 1;
    first = add(body, COPY + 0x40, PRINT, 1);
    second = add(body, COPY + 0x50, PRINT, 1);
    resolve();
    expect(parse, PROGRAM + 0x1010, 1, folded);
    expect(folded, PROGRAM + 0x1010, 2, 0);
    expect(contexts[parse].first_child, PROGRAM + 0x1010, 12, 0);
    expect(first, PROGRAM + 0x1018, 2, 0);
    assert_int_equal(contexts[second].sibling, 0);
}

static void trees_without_copies_stay_as_they_are(void **state)
{
    uint32_t main_slot = add(1, 0, MAIN, 1);
    uint32_t parse = add(main_slot, 0x20, PARSE, 1), same = add(main_slot, 0x20, PARSE, 1);

    (void)state;
    tree.module_count = 1;
    contexts[main_slot].module = 0;
    resolve();
    expect(parse, 0x20, 1, same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sites_become_the_originals, begin),
        cmocka_unit_test_setup(the_module_of_the_caller_comes_first, begin),
        cmocka_unit_test_setup(the_same_contexts_become_one, begin),
        cmocka_unit_test_setup(what_differs_in_function_or_by_a_jump_is_not_the_same, begin),
        cmocka_unit_test_setup(folded_ones_stay_apart_from_others, begin),
        cmocka_unit_test_setup(trees_without_copies_stay_as_they_are, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
