/* What is inlined where, in files that compilers make here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/symbols/lines.h"
#include "grinder/symbols/lines_sample.h"

#include <cmocka.h>

static const struct inlined *only_spot(const struct line_table *table)
{
    return line_table_inlined(table, table->addresses[0]);
}

struct expected {
    const char *name, *file;
    uint32_t line;
};

/* The chain at the table's one spot, to a null name. */
static void expect_chain(const struct line_table *table, const struct expected *expected)
{
    const struct inlined *inlined = only_spot(table);

    for (; expected->name; expected++, inlined = inlined->outer) {
        const char *file;
        if (!inlined)
            fail_msg("%s is not inlined", expected->name);
        assert_string_equal(inlined->name, expected->name);
        assert_int_equal(inlined->call.line, expected->line);
        assert_int_not_equal(inlined->call.file, 0);
        file = strrchr(table->files[inlined->call.file], '/');
        assert_string_equal(file ? file + 1 : table->files[inlined->call.file], expected->file);
        assert_int_equal(inlined->depth, expected[1].name ? 2 : 1);
    }
    assert_null(inlined);
}

/* The instruction's, in the function that is inlined there. */
static void expect_line(const struct line_table *table, uint32_t line)
{
    assert_int_equal(line_table_find_spot(table, table->addresses[0]).line, line);
}

static void expect_chains_of_c(void)
{
    static const struct expected clamp[] = {{"clamp", "inner.h", 17}, {"scale", "outer.c", 7}, {0}};
    static const struct {
        const char *label;
        const struct expected *chain;
        uint32_t line;
    } expected[] = {{"in_clamp", clamp, 6},
                    {"in_cold", clamp, 9},
                    {"in_scale", clamp + 1, 16},
                    {"in_entry", clamp + 2, 6}};

    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        struct line_table table;
        read_spot(&table, expected[i].label);
        expect_chain(&table, expected[i].chain);
        expect_line(&table, expected[i].line);
        line_table_free(&table);
    }
}

static const char *const compilers[] = {"gcc", "clang"};
static const char *const cpp_compilers[] = {"g++", "clang++"};

static void chains_of_inlined_c(void **state)
{
    static const char *const options[] = {
        "-gdwarf-4 outer.c",
        "-gdwarf-5 outer.c",
        "-gdwarf-4 -ffunction-sections -Wl,--gc-sections,--entry=entry outer.c",
        "-gdwarf-5 -ffunction-sections -gz outer.c",
    };

    (void)state;
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
            if (compile(compilers[c], options[i]))
                expect_chains_of_c();
}

/* Where the compiler makes such programs. */
static void chains_of_32_bits(void **state)
{
    (void)state;
    if (run("gcc -m32 -shared -nostdlib -o /dev/null outer.c 2>/dev/null") != 0)
        skip();
    assert_true(compile("gcc", "-m32 -gdwarf-4 outer.c"));
    expect_chains_of_c();
    assert_true(compile("gcc", "-m32 -gdwarf-5 -ffunction-sections outer.c"));
    expect_chains_of_c();
}

static void chains_across_units(void **state)
{
    (void)state;
    if (compile("gcc", "-g -flto outer.c"))
        expect_chains_of_c();
    if (has_program("dwz") && compile("gcc", "-gdwarf-4 outer.c")) {
        assert_int_equal(run("dwz made.so"), 0);
        expect_chains_of_c();
    }
}

/* A unit of types that others have in common names the line table of one of them. */
static void partial_units_have_no_lines(void **state)
{
    FILE *types;
    char path[128];

    (void)state;
    snprintf(path, sizeof(path), "%s/types.h", folder);
    types = fopen(path, "w");
    assert_non_null(types);
    for (int i = 0; i < 60; i++)
        fprintf(types,
                "struct shared_%d { long member_of_%d; struct shared_%d *next_of_%d; };\n"
                "extern struct shared_%d *shared_variable_%d;\n",
                i, i, i, i, i, i);
    assert_int_equal(fclose(types), 0);
    write_file("third.c",
               "#include \"types.h\"\nlong third(void) { return shared_variable_7->member_of_7"
               " + shared_variable_50->member_of_50; }\n");
    write_file("fourth.c",
               "#include \"types.h\"\n#include \"outer.c\"\nlong fourth(void) { return "
               "shared_variable_9->member_of_9 + shared_variable_50->member_of_50; }\n");
    if (!has_program("dwz") ||
        !compile("gcc", "-gdwarf-4 -fno-eliminate-unused-debug-types fourth.c third.c"))
        return;
    assert_int_equal(run("dwz made.so"), 0);
    assert_int_equal(
        run("readelf --debug-dump=info made.so 2>/dev/null | grep -q DW_TAG_partial_unit"), 0);
    expect_chains_of_c();
}

static void names_of_inlined_cpp(void **state)
{
    static const struct expected chain[] = {
        {"geo::Point::twice() const", "geometry.cpp", 9},
        {"int geo::measure<geo::Point>(geo::Point)", "geometry.cpp", 14},
        {0}};
    static const char *const options[] = {"-gdwarf-4 geometry.cpp", "-gdwarf-5 geometry.cpp"};

    (void)state;
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < 2; i++) {
            struct line_table table;
            if (!compile(cpp_compilers[c], options[i]))
                continue;
            read_spot(&table, "in_twice");
            expect_chain(&table, chain);
            line_table_free(&table);
        }
}

/* Its first rows are of file 1, and do not say so, as that is where the standard begins. */
static void files_of_a_unit_that_begins_in_a_header(void **state)
{
    static const struct expected files[] = {{"first", "first.h", 3}, {"second", "second.c", 4}};
    static const char *const options[] = {"-gdwarf-4 second.c", "-gdwarf-5 second.c"};

    (void)state;
    write_file("first.h", "__attribute__((noinline)) int first(int x)\n"
                          "{\n"
                          "    __asm__ volatile(\"in_first: nop\");\n"
                          "    return x * 3;\n"
                          "}\n");
    write_file("second.c", "#include \"first.h\"\n"
                           "int second(int x)\n"
                           "{\n"
                           "    __asm__ volatile(\"in_second: nop\");\n"
                           "    return first(x) + 1;\n"
                           "}\n");
    for (size_t i = 0; i < 2; i++) {
        assert_true(compile("gcc", options[i]));
        for (size_t k = 0; k < 2; k++) {
            char label[16];
            struct line_table table;
            struct line line;
            snprintf(label, sizeof(label), "in_%s", files[k].name);
            read_spot(&table, label);
            line = line_table_find_spot(&table, table.addresses[0]);
            assert_int_equal(line.line, files[k].line);
            assert_string_equal(strrchr(table.files[line.file], '/') + 1, files[k].file);
            line_table_free(&table);
        }
    }
}

/* Ada has them, too. */
static void chains_in_functions_within_functions(void **state)
{
    static const struct expected chain[] = {{"deep", "nested.c", 9}, {0}};
    struct line_table table;

    (void)state;
    write_file("nested.c", "static inline __attribute__((always_inline)) int deep(int x)\n"
                           "{\n"
                           "    __asm__ volatile(\"in_deep: nop\");\n"
                           "    return x * 2;\n"
                           "}\n"
                           "int entry(int n)\n"
                           "{\n"
                           "    __attribute__((noinline)) int nested(int x) {\n"
                           "        return deep(x) + n;\n"
                           "    }\n"
                           "    return nested(n * 5) + nested(3);\n"
                           "}\n");
    if (!compile("gcc", "-g nested.c"))
        return;
    read_spot(&table, "in_deep");
    expect_chain(&table, chain);
    line_table_free(&table);
}

/* Its DIEs are in another file. */
static void split_dwarf_has_lines_alone(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        struct line_table table;
        if (!compile(compilers[c], "-gdwarf-5 -gsplit-dwarf outer.c"))
            continue;
        read_spot(&table, "in_clamp");
        assert_int_equal(line_table_find_spot(&table, table.addresses[0]).line, 6);
        assert_null(only_spot(&table));
        line_table_free(&table);
    }
}

static void addresses_of_one_call_share_it(void **state)
{
    static const char *const labels[] = {"in_clamp", "in_cold", "in_scale"};
    const struct inlined *found[3];
    struct line_table table;
    struct failure failure = {""};

    (void)state;
    assert_true(compile("gcc", "-g outer.c"));
    begin_table(&table, labels, 3);
    for (size_t i = 0; i < 2; i++)
        line_table_add_spot(&table, address_of(labels[i]));
    line_table_add_spot(&table, 1); /* of no address of the table */
    assert_true(read_made(&table, &failure));
    for (size_t i = 0; i < 3; i++)
        found[i] = line_table_inlined(&table, address_of(labels[i]));
    assert_non_null(found[0]);
    assert_ptr_equal(found[0], found[1]);
    assert_null(found[2]); /* which nobody asked for */
    line_table_free(&table);
}

/* Nor is it looked into where nothing is asked of it. */
static void a_damaged_tree_costs_what_is_inlined_there(void **state)
{
    static const char *const labels[] = {"in_clamp", "in_broken"};

    (void)state;
    assert_true(compile("gcc", "-gdwarf-4 broken.s outer.c"));
    for (int is_asked = 0; is_asked < 2; is_asked++) {
        struct line_table table;
        struct failure failure = {""};
        begin_table(&table, labels, 2);
        line_table_add_spot(&table, address_of("in_clamp"));
        if (is_asked)
            line_table_add_spot(&table, address_of("in_broken"));
        assert_int_equal(read_made(&table, &failure), !is_asked);
        if (is_asked)
            assert_string_equal(failure.text,
                                "inlined functions cannot be read to the end; some are not known");
        assert_int_equal(line_table_find(&table, address_of("in_broken")).line, 5);
        assert_non_null(line_table_inlined(&table, address_of("in_clamp")));
        line_table_free(&table);
    }
}

/* Replaces a few bytes of a section of made.so. */
static void damage(const char *section, unsigned *random)
{
    char command[256], path[128];
    long size;
    FILE *file;

    snprintf(command, sizeof(command),
             "objcopy -O binary --only-section=.debug_%s "
             "--set-section-flags .debug_%s=alloc made.so made.section",
             section, section);
    assert_int_equal(run(command), 0);
    snprintf(path, sizeof(path), "%s/made.section", folder);
    file = fopen(path, "r+");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    for (int i = 0; i < 3; i++) {
        fseek(file, rand_r(random) % size, SEEK_SET);
        fputc(rand_r(random) % 256, file);
    }
    fclose(file);
    snprintf(command, sizeof(command),
             "objcopy --update-section .debug_%s=made.section made.so made.bad 2>/dev/null && "
             "mv made.bad made.so",
             section);
    assert_int_equal(run(command), 0);
}

static void damaged_trees_are_read_or_refused(void **state)
{
    static const char *const sections[] = {"info", "abbrev", "rnglists"};
    static const char *const labels[] = {"in_clamp", "in_cold", "in_scale", "in_entry"};
    unsigned random = 1;

    (void)state;
    assert_true(compile("gcc", "-gdwarf-5 outer.c"));
    assert_int_equal(run("cp made.so whole.so"), 0);
    for (int round = 0; round < 30; round++) {
        struct line_table table;
        struct failure failure = {""};
        assert_int_equal(run("cp whole.so made.so"), 0);
        damage(sections[round % 3], &random);
        begin_table(&table, labels, 4);
        for (size_t i = 0; i < 4; i++)
            line_table_add_spot(&table, table.addresses[i]);
        (void)read_made(&table, &failure);
        expect_sound(&table);
        line_table_free(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_of_inlined_c),
        cmocka_unit_test(chains_of_32_bits),
        cmocka_unit_test(chains_across_units),
        cmocka_unit_test(partial_units_have_no_lines),
        cmocka_unit_test(names_of_inlined_cpp),
        cmocka_unit_test(files_of_a_unit_that_begins_in_a_header),
        cmocka_unit_test(chains_in_functions_within_functions),
        cmocka_unit_test(split_dwarf_has_lines_alone),
        cmocka_unit_test(addresses_of_one_call_share_it),
        cmocka_unit_test(a_damaged_tree_costs_what_is_inlined_there),
        cmocka_unit_test(damaged_trees_are_read_or_refused),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
