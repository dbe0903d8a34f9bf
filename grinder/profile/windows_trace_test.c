/* A trace from Windows: the image lies where Z: says, its PDB beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/profile/symbolize.h"
#include "grinder/symbols/pdb_file.h"
#include "grinder/test_traces/ground_sample.h"
#include "grinder/test_traces/pe_sample.h"

#include <cmocka.h>

#define BASE 0x7ff612340000ull

enum { BY_NAME = 1, HIDDEN, NAMELESS, IMPORT };

/* The last one is the slot of Sleep in mingw.dll; the other one has no imports. */
static const uint32_t rvas[] = {0x1030, 0x10a0, 0x1001, 0x4038};
static char folder[] = "/tmp/windows_trace_test.XXXXXX";

static void run(const char *command)
{
    char whole[512];

    snprintf(whole, sizeof(whole), "cd %s && %s", folder, command);
    assert_int_equal(system(whole), 0);
}

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    run("mkdir original");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    run("rm -r \"$PWD\"");
    return 0;
}

static int clear_folder(void **state)
{
    (void)state;
    run("rm -rf * && mkdir original");
    return 0;
}

/* The seed of that name, instrumented, and a trace in which each function called the next one. */
static void grind(struct ground *ground, const char *seed)
{
    char path[256], original[256], recorded[256];
    struct trace_sample trace;
    struct pe_sample image;
    uint32_t node;

    snprintf(path, sizeof(path), "%s/%s", SEEDS, seed);
    snprintf(original, sizeof(original), "Z:%s\\Original\\%s", folder, seed);
    image = pe_sample_make(path, original, rvas, 4);
    snprintf(path, sizeof(path), "%s/%s", folder, seed);
    pe_sample_write(path, image.bytes, image.size);
    snprintf(recorded, sizeof(recorded), "Z:%s\\%s", folder, seed);

    trace_sample_begin(&trace, 7, recorded);
    trace_sample_header(&trace)->system = TRACE_SYSTEM_WINDOWS;
    trace_sample_header(&trace)->ticks_per_second = 2000000000;
    trace_sample_add_thread(&trace, "main");
    trace_sample_add_module(&trace, recorded, BASE, 1 << 20, 1, 4, image.original_hash);
    node = trace_sample_thread(&trace, 1)->root;
    for (uint32_t i = 1; i <= 4; i++)
        node = trace_sample_add_node(&trace, 1, node, i == 1 ? 0 : BASE + 0x1045, i, i,
                                     4000u >> (i - 1));
    ground_begin(ground, &trace, false);
    free(image.bytes);
}

static void expect_name(const struct ground *ground, uint32_t function, const char *name)
{
    assert_string_equal(ground->images.functions[function].name, name);
}

static void names_and_lines_come_from_the_pdb(void **state)
{
    struct ground ground;
    const struct pair_index *edges;
    struct place place;
    int found = 0;

    (void)state;
    run("cp " SEEDS "/msvc.pdb .");
    grind(&ground, "msvc.dll");
    expect_name(&ground, BY_NAME, "by_name");
    expect_name(&ground, HIDDEN, "hidden");
    expect_name(&ground, NAMELESS, "msvc.dll!0x180001001");
    expect_name(&ground, IMPORT, "Sleep@plt"); /* no such slot: by the manifest alone */
    place = place_of_function(&ground.images, HIDDEN);
    assert_int_equal(place.line, 28);
    assert_string_equal(place.file, "/seeds/of/windows/windows.cpp");
    edges = &ground.profile.parts[0].edges.keys;
    for (size_t i = 0; i < edges->count; i++)
        if (edges->pairs[i].a == ((uint64_t)BY_NAME << 32 | HIDDEN))
            found += place_of_site(&ground.images, edges->pairs[i].b).line == 38;
    assert_int_equal(found, 1);
    ground_free(&ground);
}

static void a_pdb_beside_the_original_will_do(void **state)
{
    struct ground ground;

    (void)state;
    run("cp " SEEDS "/msvc.pdb original");
    grind(&ground, "msvc.dll");
    expect_name(&ground, HIDDEN, "hidden");
    ground_free(&ground);
}

static void change_guid(void)
{
    char path[256];
    struct pdb_file pdb;
    struct failure failure;
    uint8_t *bytes, *guid;
    size_t size;

    assert_true(pdb_open(&pdb, SEEDS "/msvc.pdb", &failure));
    bytes = pe_sample_read(SEEDS "/msvc.pdb", &size);
    guid = memmem(bytes, size, pdb.info.guid, sizeof(pdb.info.guid));
    assert_non_null(guid);
    guid[3] ^= 1;
    snprintf(path, sizeof(path), "%s/msvc.pdb", folder);
    pe_sample_write(path, bytes, size);
    free(bytes);
    pdb_close(&pdb);
}

static void a_pdb_of_another_build_lends_no_names(void **state)
{
    struct ground ground;

    (void)state;
    change_guid();
    grind(&ground, "msvc.dll");
    expect_name(&ground, BY_NAME, "by_name"); /* exported */
    expect_name(&ground, HIDDEN, "msvc.dll!0x1800010a0");
    assert_int_equal(place_of_function(&ground.images, BY_NAME).line, 0);
    ground_free(&ground);
}

static void without_a_pdb_there_are_exports(void **state)
{
    struct ground ground;

    (void)state;
    grind(&ground, "msvc.dll");
    expect_name(&ground, BY_NAME, "by_name");
    expect_name(&ground, HIDDEN, "msvc.dll!0x1800010a0");
    ground_free(&ground);
}

static void an_import_has_its_library_in_front(void **state)
{
    struct ground ground;

    (void)state;
    grind(&ground, "mingw.dll");
    expect_name(&ground, IMPORT, "KERNEL32.dll!Sleep");
    ground_free(&ground);
}

static void an_image_that_is_gone_lends_no_names(void **state)
{
    struct trace_sample trace;
    struct ground ground;

    (void)state;
    trace_sample_begin(&trace, 7, "app.exe");
    trace_sample_header(&trace)->system = TRACE_SYSTEM_WINDOWS;
    trace_sample_add_thread(&trace, "main");
    trace_sample_add_module(&trace, "\\\\server\\share\\app.exe", BASE, 1 << 20, 1, 4, 1);
    trace_sample_add_node(&trace, 1, trace_sample_thread(&trace, 1)->root, 0, 2, 1, 1);
    ground_begin(&ground, &trace, false);
    expect_name(&ground, 1, "app.exe!#1");
    ground_free(&ground);
}

static void times_are_in_ns_as_elsewhere(void **state)
{
    const struct cost_table *table;
    struct ground ground;
    uint64_t total = 0;

    (void)state;
    grind(&ground, "msvc.dll");
    table = &ground.profile.parts[0].functions;
    for (size_t i = 0; i < table->keys.count; i++)
        if (table->keys.pairs[i].a == BY_NAME)
            total += table->costs[i].total_ns;
    assert_int_equal(total, 2000); /* 4000 ticks at 2 GHz */
    ground_free(&ground);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names_and_lines_come_from_the_pdb, clear_folder),
        cmocka_unit_test_setup(a_pdb_beside_the_original_will_do, clear_folder),
        cmocka_unit_test_setup(a_pdb_of_another_build_lends_no_names, clear_folder),
        cmocka_unit_test_setup(without_a_pdb_there_are_exports, clear_folder),
        cmocka_unit_test_setup(an_import_has_its_library_in_front, clear_folder),
        cmocka_unit_test_setup(an_image_that_is_gone_lends_no_names, clear_folder),
        cmocka_unit_test_setup(times_are_in_ns_as_elsewhere, clear_folder),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
