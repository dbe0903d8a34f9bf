#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/report/hit_columns.h"
#include "support/memory.h"

#include <cmocka.h>

#define BEGIN_NS 5000000000u
#define MANY     900000u

/* One process of a second, one part without any hits. */
struct fixture {
    struct image image;
    struct function functions[8];
    struct images images;
    struct process process;
    struct part part;
    struct profile profile;
    uint32_t of_place[1];
    struct report_files files;
    struct report report;
};

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture){
        .image = {.problem = "is not there"},
        .process = {.header = {.created_ns = BEGIN_NS,
                               .start_ticks = 1000,
                               .end_ticks = 2000,
                               .ticks_per_second = 1000}},
    };
    for (uint32_t i = 1; i < 8; i++)
        fixture->functions[i] = (struct function){.rva = 0x100 * i};
    fixture->images =
        (struct images){.images = &fixture->image, .count = 1, .functions = fixture->functions};
    fixture->profile = (struct profile){.processes = &fixture->process,
                                        .process_count = 1,
                                        .parts = &fixture->part,
                                        .part_count = 1};
    fixture->files = (struct report_files){.of_place = fixture->of_place};
    fixture->report = (struct report){.profile = &fixture->profile, .images = &fixture->images};
}

static void end(struct fixture *fixture)
{
    hits_free(&fixture->part.hits);
    stacks_free(&fixture->part.stacks);
}

static void add(struct fixture *fixture, uint64_t at_us, uint32_t stack, uint64_t spot)
{
    struct hit_list *hits = &fixture->part.hits;

    hits->items = memory_grow(hits->items, hits->count, &hits->room, sizeof(*hits->items));
    hits->items[hits->count++] = (struct hit){BEGIN_NS + at_us * 1000, 1000000, spot, stack};
}

/* To be freed. */
static char *written(const struct fixture *fixture)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    hit_columns_write(stream, &fixture->report, &fixture->files, &fixture->part);
    fclose(stream);
    return text;
}

/* Samples met main, parse, lex and print, as drawn; a function that none met is not there. */
static void test_as_drawn(void **state)
{
    struct fixture fixture;
    uint32_t program, parse, lex, print;
    char *text;

    (void)state;
    begin(&fixture);
    program = stacks_push(&fixture.part.stacks, 0, 1);
    stacks_push(&fixture.part.stacks, program, 5);
    parse = stacks_push(&fixture.part.stacks, program, 2);
    print = stacks_push(&fixture.part.stacks, program, 4);
    lex = stacks_push(&fixture.part.stacks, parse, 3);
    add(&fixture, 2000, print, 0x400); /* its entry */
    add(&fixture, 1000, lex, 0x304);
    add(&fixture, 3000, lex, 0x304);
    add(&fixture, 3000, lex, 0x300);
    fixture.part.hits.items[3].ns = 400;
    add(&fixture, 4096, program, 0x99); /* in front of its entry */
    text = written(&fixture);
    assert_non_null(strstr(text, "\"up\":\"AAAC\""));
    assert_non_null(strstr(text, "\"function\":\"BCDE\""));
    assert_non_null(strstr(text, "\"stack\":\"GCBAD\""));   /* 3, 4, 3, 3, 1 */
    assert_non_null(strstr(text, "\"at\":\"ofofofAoiB\"")); /* 1000, 1000, 1000, 0, 1096 */
    assert_non_null(strstr(text, "\"spot\":\"AABAA\""));
    assert_non_null(strstr(text, "\"offset\":\"AFBB\"")); /* of main, lex + 4, lex, print */
    assert_non_null(strstr(text, "\"ns\":\"AAv+BAA\""));
    assert_non_null(strstr(text, "\"inlined\":\"\""));
    free(text);
    end(&fixture);
}

static void test_none(void **state)
{
    struct fixture fixture;
    char *text;

    (void)state;
    begin(&fixture);
    text = written(&fixture);
    assert_string_equal(text, "null");
    free(text);
    end(&fixture);
}

/* What a damaged trace says of times goes to the ends of the run. */
static void test_outside_of_the_run(void **state)
{
    struct fixture fixture;
    char *text;

    (void)state;
    begin(&fixture);
    stacks_push(&fixture.part.stacks, 0, 1);
    add(&fixture, 0, 1, 0x100);
    add(&fixture, 0, 1, 0x100);
    fixture.part.hits.items[0].at_ns = UINT64_MAX;
    fixture.part.hits.items[1].at_ns = 1;
    text = written(&fixture);
    assert_non_null(strstr(text, "\"at\":\"Agywe\"")); /* 0, 1000000 */
    free(text);
    end(&fixture);
}

/* A page stays bounded: those that are kept stand for the others. */
static void test_many(void **state)
{
    struct fixture fixture;
    char *text;

    (void)state;
    begin(&fixture);
    stacks_push(&fixture.part.stacks, 0, 1);
    for (uint32_t i = 0; i < MANY; i++)
        add(&fixture, i, 1, 0x100);
    text = written(&fixture);
    assert_non_null(strstr(text, "\"ns\":\"\",\n\"usual\":4000000"));
    assert_in_range(strlen(text), 3 * 225000, 3 * 225000 + 200);
    free(text);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_drawn),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_outside_of_the_run),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
