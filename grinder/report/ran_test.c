#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/report/ran.h"

#include <cmocka.h>

#define CALLED   0x100u /* begins at /a.c:3 */
#define CALL     0x110u /* at /a.c:5 */
#define SAMPLED  0x120u /* at /a.c:7 */
#define FUNCTION 1      /* its number on the page */

/*
 * One image on the page, of whose functions that at place 4 of the manifest was called; the same
 * image is the second of the coverage, where another one lies before it.
 */
struct fixture {
    struct image_manifest head;
    uint64_t addresses[3];
    struct line lines[3];
    char *paths[2];
    struct image on_page[2], in_coverage[3];
    struct function functions[2], covered[4];
    struct covered_function blocks[3];
    struct covered_line covered_lines[6];
    struct pair key;
    struct hit hit;
    struct cost_table edges;
    struct part part;
    struct profile profile;
    struct images images;
    struct coverage coverage;
    struct report report;
    struct report_files files;
};

static int begin(void **state)
{
    static const char *const none[] = {NULL};
    static struct fixture fixture;
    struct failure failure;
    struct image image = {.path = "/program", .original_hash = 7, .function_count = 9};
    struct image other = {.path = "/program", .original_hash = 8, .function_count = 9};

    fixture = (struct fixture){
        .addresses = {CALLED, CALL, SAMPLED},
        .lines = {{1, 3}, {1, 5}, {1, 7}},
        .paths = {NULL, "/a.c"},
        .blocks = {{.function = 1, .blocks = 5, .ran = 5},
                   {.function = 2, .blocks = 4, .ran = 3},
                   {.function = 3, .blocks = 6}},
        .covered_lines = {{"/a.c", 3, 1},
                          {"/a.c", 4, 0},
                          {"/a.c", 5, 0},
                          {"/a.c", 7, 0},
                          {"/a.c", 9, 0},
                          {"/b.h", 1, 0}},
    };
    image.manifest.head = &fixture.head;
    image.lines = (struct line_table){.addresses = fixture.addresses,
                                      .lines = fixture.lines,
                                      .count = 3,
                                      .files = fixture.paths,
                                      .file_count = 2};
    fixture.on_page[0] = (struct image){.problem = "is not there"};
    fixture.on_page[1] = fixture.in_coverage[2] = image;
    fixture.in_coverage[1] = other;
    fixture.functions[FUNCTION] = (struct function){.image = 1, .index = 4, .rva = CALLED};
    fixture.covered[1] = (struct function){.image = 1, .index = 4};
    fixture.covered[2] = (struct function){.image = 2, .index = 4};
    fixture.covered[3] = (struct function){.image = 2, .index = 5};
    fixture.images =
        (struct images){.images = fixture.on_page, .count = 2, .functions = fixture.functions};
    pair_index_add(&fixture.images.numbers, 0, 0);
    pair_index_add(&fixture.images.numbers, 1 + 1, 4);
    fixture.coverage = (struct coverage){
        .images = {.images = fixture.in_coverage, .count = 3, .functions = fixture.covered},
        .functions = fixture.blocks,
        .function_count = 3,
        .lines = fixture.covered_lines,
        .line_count = 6};
    fixture.profile = (struct profile){.parts = &fixture.part, .part_count = 1};
    fixture.report = (struct report){.profile = &fixture.profile,
                                     .images = &fixture.images,
                                     .coverage = &fixture.coverage,
                                     .source_roots = none};
    *state = &fixture;
    return report_files_begin(&fixture.files, &fixture.report, &failure) ? 0 : -1;
}

static int end(void **state)
{
    struct fixture *fixture = *state;

    report_files_free(&fixture->files);
    pair_index_free(&fixture->images.numbers);
    return 0;
}

static void expect(const struct fixture *fixture, const char *part)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    assert_non_null(stream);
    ran_write(stream, &fixture->report, &fixture->files);
    fclose(stream);
    if (!strstr(text, part))
        fail_msg("expected %s, found %s", part, text);
    free(text);
}

/* /b.h is of no function on the page, and may not be named there. */
static void lines_of_shown_files(void **state)
{
    expect(*state, "{\"files\":{\"id\":[1],\"all\":[5],\"ran\":[1]},\n\"missed\":[[4,5,7,9]],\n");
}

/* One image has functions that are not on the page; of the other, of the same path, there are none.
 */
static void blocks_by_the_numbers_of_the_page(void **state)
{
    expect(*state, "\"functions\":{\"id\":[1],\"all\":[4],\"ran\":[3]},\n"
                   "\"modules\":{\"id\":[1],\"all\":[10],\"ran\":[3]}}");
}

static void how_often_what_was_counted_ran(void **state)
{
    struct fixture *fixture = *state;
    static uint64_t counts[] = {70, 0, 0};
    static struct covered_image by_image[] = {{0}, {0}, {.counts = counts}};
    static const struct manifest_block blocks[] = {{0x100, 4}, {0x104, 0}, {0x108, 9}};
    static const struct manifest_function functions[9];

    fixture->covered_lines[0].hits = 70;
    fixture->coverage.is_counted = true;
    fixture->coverage.covered = by_image;
    fixture->coverage.functions = &fixture->blocks[1];
    fixture->coverage.function_count = 1;
    fixture->blocks[1].blocks = 2;
    fixture->in_coverage[2].manifest.blocks = blocks;
    fixture->in_coverage[2].manifest.block_count = 3;
    fixture->in_coverage[2].manifest.functions = functions;
    expect(fixture, ",\n\"runs\":{\"lines\":[[3,70]],\n\"blocks\":[[256,70,264,0]]}}");
}

static void lines_with_figures_ran(void **state)
{
    struct fixture *fixture = *state;

    fixture->covered_lines[0].hits = 0;
    fixture->key = (struct pair){FUNCTION, 0};
    fixture->part.functions.keys = (struct pair_index){.pairs = &fixture->key, .count = 1};
    expect(fixture, "\"ran\":[1]},\n\"missed\":[[4,5,7,9]]");
    fixture->key = (struct pair){(uint64_t)FUNCTION << 32 | FUNCTION, (uint64_t)1 << 32 | CALL};
    fixture->part.functions.keys.count = 0;
    fixture->part.edges.keys = (struct pair_index){.pairs = &fixture->key, .count = 1};
    expect(fixture, "\"ran\":[1]},\n\"missed\":[[3,4,7,9]]");
    fixture->hit.spot = (uint64_t)1 << 32 | SAMPLED;
    fixture->part.hits = (struct hit_list){.items = &fixture->hit, .count = 1};
    expect(fixture, "\"ran\":[2]},\n\"missed\":[[3,4,9]]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_of_shown_files, begin, end),
        cmocka_unit_test_setup_teardown(blocks_by_the_numbers_of_the_page, begin, end),
        cmocka_unit_test_setup_teardown(how_often_what_was_counted_ran, begin, end),
        cmocka_unit_test_setup_teardown(lines_with_figures_ran, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
