/* What is inlined where, in files that compilers make here, and in reports of children taken over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grinder/symbols/lines.h"
#include "support/memory.h"
#include "support/utf8.h"

#include <cmocka.h>

static char folder[] = "/tmp/lines_test.XXXXXX";

/* Labels in assembly tell where the code of a line is. */
static const char c_header[] = "#define INLINE static inline __attribute__((always_inline))\n"
                               "__attribute__((cold, noinline)) void complain(void);\n"
                               "\n"
                               "INLINE int clamp(int x)\n"
                               "{\n"
                               "    __asm__ volatile(\"in_clamp: nop\");\n"
                               "    if (x < 0) {\n"
                               "        complain();\n"
                               "        __asm__ volatile(\"in_cold: nop\");\n"
                               "    }\n"
                               "    return x < 9 ? x : 9;\n"
                               "}\n"
                               "\n"
                               "INLINE int scale(int x)\n"
                               "{\n"
                               "    __asm__ volatile(\"in_scale: nop\");\n"
                               "    return clamp(x * 2);\n" /* 17 */
                               "}\n";

static const char c_source[] = "#include \"inner.h\"\n"
                               "void complain(void) { __asm__ volatile(\"\"); }\n"
                               "\n"
                               "int entry(int x)\n"
                               "{\n"
                               "    __asm__ volatile(\"in_entry: nop\");\n"
                               "    x += scale(x);\n" /* 7 */
                               "    return x * 3;\n"
                               "}\n";

static const char cpp_source[] =
    "#define INLINE inline __attribute__((always_inline))\n"
    "namespace geo {\n"
    "struct Point {\n"
    "    int x;\n"
    "    INLINE int twice() const { __asm__ volatile(\"in_twice: nop\"); return x * 2; }\n"
    "};\n"
    "template <typename T> INLINE int measure(T p)\n"
    "{\n"
    "    return p.twice() + 1;\n" /* 9 */
    "}\n"
    "namespace {\n"
    "__attribute__((noinline)) int within(Point p)\n"
    "{\n"
    "    return measure<Point>(p);\n" /* 14 */
    "}\n"
    "}\n"
    "int outside(Point p) { return within(p) + 1; }\n"
    "}\n";

/* A unit with a line for in_broken, whose one DIE has a child of a kind that is not there. */
static const char broken_source[] = ".text\n"
                                    ".Ltext: .globl broken\n"
                                    "broken: .file 1 \"broken.c\"\n"
                                    ".loc 1 5\n"
                                    "nop\n"
                                    "in_broken: nop\n"
                                    "ret\n"
                                    ".Lend:\n"
                                    ".section .debug_abbrev,\"\",@progbits\n"
                                    ".uleb128 1, 0x11\n"
                                    ".byte 1\n"
                                    ".uleb128 0x10, 0x17, 0x11, 1, 0x12, 7, 0, 0, 0\n"
                                    ".section .debug_info,\"\",@progbits\n"
                                    ".long .Linfo_end - .Linfo\n"
                                    ".Linfo: .short 4\n"
                                    ".long 0\n"
                                    ".byte 8\n"
                                    ".uleb128 1\n"
                                    ".long .Lline\n"
                                    ".quad .Ltext, .Lend - .Ltext\n"
                                    ".uleb128 99\n"
                                    ".byte 0, 0, 0\n"
                                    ".Linfo_end:\n"
                                    ".section .note.GNU-stack,\"\",@progbits\n"
                                    ".section .debug_line,\"\",@progbits\n"
                                    ".Lline:\n";

/* Runs a command in the test's folder. */
static int run(const char *command)
{
    char whole[1024];

    snprintf(whole, sizeof(whole), "cd %s && %s", folder, command);
    return system(whole);
}

static void write_file(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    write_file("inner.h", c_header);
    write_file("outer.c", c_source);
    write_file("geometry.cpp", cpp_source);
    write_file("broken.s", broken_source);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    assert_int_equal(run("rm -r \"$PWD\""), 0);
    return 0;
}

static bool has_program(const char *name)
{
    char command[128];

    snprintf(command, sizeof(command), "command -v %s >/dev/null", name);
    return run(command) == 0;
}

/* Makes made.so; false if there is no such compiler. */
static bool compile(const char *compiler, const char *options)
{
    char command[512];

    if (!has_program(compiler))
        return false;
    snprintf(command, sizeof(command),
             "rm -f made* && %s -O2 -fPIC -shared -nostdlib -o made.so %s", compiler, options);
    assert_int_equal(run(command), 0);
    return true;
}

static uint64_t address_of(const char *label)
{
    char command[256];
    unsigned long long address = 0;
    FILE *output;

    snprintf(command, sizeof(command), "nm %s/made.so | sed -n 's/ [tT] %s$//p'", folder, label);
    output = popen(command, "r");
    assert_non_null(output);
    if (fscanf(output, "%llx", &address) != 1)
        fail_msg("%s is not there", label);
    pclose(output);
    return address;
}

static void begin(struct line_table *table, const char *const *labels, size_t count)
{
    uint64_t *addresses = memory_zeroed(count, sizeof(*addresses));

    for (size_t i = 0; i < count; i++)
        addresses[i] = address_of(labels[i]);
    line_table_begin(table, addresses, count);
}

static bool read_made(struct line_table *table, struct failure *failure)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/made.so", folder);
    return line_table_read(table, path, failure);
}

/* Reads made.so with one spot. */
static void read_spot(struct line_table *table, const char *label)
{
    struct failure failure = {""};

    begin(table, &label, 1);
    line_table_add_spot(table, table->addresses[0]);
    if (!read_made(table, &failure))
        fail_msg("%s", failure.text);
}

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
    begin(&table, labels, 3);
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
        begin(&table, labels, 2);
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

static void expect_sound(const struct line_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct inlined *inlined = line_table_inlined(table, table->addresses[i]);
        for (uint32_t left = LINES_MAX_DEPTH; inlined; inlined = inlined->outer) {
            assert_true(left-- > 0);
            assert_true(inlined->call.file < table->file_count);
            assert_true(utf8_is_plain(inlined->name));
        }
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
        begin(&table, labels, 4);
        for (size_t i = 0; i < 4; i++)
            line_table_add_spot(&table, table.addresses[i]);
        (void)read_made(&table, &failure);
        expect_sound(&table);
        line_table_free(&table);
    }
}

/* --- reports --- */

/* A report, and what is said of three addresses, the last of which is no spot. */
struct told {
    int pipe;
    struct line_table table;
};

static void tell_begin(struct told *told)
{
    uint64_t *addresses = memory_zeroed(3, sizeof(*addresses));

    told->pipe = memfd_create("report", MFD_CLOEXEC);
    assert_true(told->pipe >= 0);
    for (size_t i = 0; i < 3; i++)
        addresses[i] = 0x1000 + i;
    line_table_begin(&told->table, addresses, 3);
    line_table_add_spot(&told->table, 0x1000);
    line_table_add_spot(&told->table, 0x1001);
}

static void tell_bytes(const struct told *told, const void *bytes, size_t size)
{
    assert_int_equal(write(told->pipe, bytes, size), (ssize_t)size);
}

static void tell(const struct told *told, char kind, size_t count, const uint32_t *words)
{
    tell_bytes(told, &kind, 1);
    tell_bytes(told, words, count * sizeof(*words));
}

#define TELL(told, kind, ...)                                                                      \
    tell(told, kind, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                         \
         (uint32_t[]){__VA_ARGS__})

static void tell_name(const struct told *told, char kind, const char *name)
{
    TELL(told, kind, (uint32_t)strlen(name));
    tell_bytes(told, name, strlen(name));
}

/* Takes it; returns what line_table_take does. The table is to be freed. */
static bool tell_end(struct told *told)
{
    struct failure failure = {""};
    bool is_taken;

    lseek(told->pipe, 0, SEEK_SET);
    is_taken = line_table_take(&told->table, told->pipe, &failure);
    close(told->pipe);
    expect_sound(&told->table);
    return is_taken;
}

static void tell_names(struct told *told)
{
    tell_begin(told);
    tell_name(told, LINES_FILE, "a.c");
    tell_name(told, LINES_FUNCTION, "inner\n");
}

static void a_report_as_drawn(void **state)
{
    struct told told;
    const struct inlined *inlined;

    (void)state;
    tell_names(&told);
    TELL(&told, LINES_LINE, 0, 1, 7);
    TELL(&told, LINES_LINE, 1, 1, 8);
    TELL(&told, LINES_SPOT, 1, 1, 9);
    TELL(&told, LINES_INLINED, 0, 0, 1, 70);
    TELL(&told, LINES_INLINED, 1, 1, 0, 71);
    TELL(&told, LINES_INNERMOST, 0, 2);
    assert_true(tell_end(&told));
    inlined = line_table_inlined(&told.table, 0x1000);
    assert_string_equal(inlined->name, "inner?");
    assert_int_equal(inlined->call.line, 71);
    assert_int_equal(inlined->depth, 2);
    assert_string_equal(inlined->outer->name, "???");
    assert_int_equal(inlined->outer->call.file, 1);
    assert_null(inlined->outer->outer);
    assert_null(line_table_inlined(&told.table, 0x1001));
    assert_int_equal(line_table_find_spot(&told.table, 0x1000).line, 7);
    assert_int_equal(line_table_find_spot(&told.table, 0x1001).line, 9);
    assert_int_equal(line_table_find(&told.table, 0x1001).line, 8);
    line_table_free(&told.table);
}

static void records_that_lie_end_a_report(void **state)
{
    static const struct {
        char kind;
        size_t count;
        uint32_t words[4];
    } lies[] = {
        {LINES_INLINED, 4, {2, 1, 1, 1}},          /* within itself */
        {LINES_INLINED, 4, {UINT32_MAX, 1, 1, 1}}, /* within none that is there */
        {LINES_INLINED, 4, {0, 2, 1, 1}},          /* of a name to come */
        {LINES_INLINED, 4, {0, 1, 2, 1}},          /* in a file to come */
        {LINES_INNERMOST, 2, {3, 1}},              /* at no address */
        {LINES_INNERMOST, 2, {2, 1}},              /* at an address that is no spot */
        {LINES_INNERMOST, 2, {1, 2}},              /* of a call to come */
        {LINES_FUNCTION, 1, {0}},                  /* no name */
        {LINES_FUNCTION, 1, {LINES_MAX_NAME + 1}}, /* too long a name */
        {LINES_FUNCTION, 1, {3}},                  /* a name that ends early */
        {LINES_INLINED, 3, {0, 1, 1}},             /* a record that ends early */
        {'?', 0, {0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
        struct told told;
        tell_names(&told);
        TELL(&told, LINES_INLINED, 0, 1, 1, 1);
        TELL(&told, LINES_INNERMOST, 0, 1);
        tell(&told, lies[i].kind, lies[i].count, lies[i].words);
        if (tell_end(&told))
            fail_msg("lie %zu is believed", i);
        assert_non_null(line_table_inlined(&told.table, 0x1000)); /* what came before is kept */
        assert_null(line_table_inlined(&told.table, 0x1001));
        line_table_free(&told.table);
    }
}

static void a_name_is_not_empty(void **state)
{
    static const char kinds[] = {LINES_FILE, LINES_FUNCTION};

    (void)state;
    for (size_t i = 0; i < sizeof(kinds); i++) {
        struct told told;
        tell_begin(&told);
        TELL(&told, kinds[i], 2);
        tell_bytes(&told, "\0n", 2);
        assert_false(tell_end(&told));
        line_table_free(&told.table);
    }
}

static void reports_have_limits(void **state)
{
    struct told told;
    char name[LINES_MAX_NAME + 1] = {0};

    (void)state;
    for (uint32_t depth = LINES_MAX_DEPTH; depth <= LINES_MAX_DEPTH + 1; depth++) {
        tell_names(&told);
        for (uint32_t i = 0; i < depth; i++)
            TELL(&told, LINES_INLINED, i, 1, 1, 1);
        TELL(&told, LINES_INNERMOST, 0, LINES_MAX_DEPTH);
        assert_int_equal(tell_end(&told), depth <= LINES_MAX_DEPTH);
        line_table_free(&told.table);
    }
    memset(name, 'n', LINES_MAX_NAME);
    tell_begin(&told);
    for (size_t text = 0; text <= LINES_MAX_TEXT; text += lines_name_cost(LINES_MAX_NAME))
        tell_name(&told, text % 2 ? LINES_FILE : LINES_FUNCTION, name);
    assert_false(tell_end(&told));
    line_table_free(&told.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_of_inlined_c),
        cmocka_unit_test(chains_across_units),
        cmocka_unit_test(partial_units_have_no_lines),
        cmocka_unit_test(names_of_inlined_cpp),
        cmocka_unit_test(files_of_a_unit_that_begins_in_a_header),
        cmocka_unit_test(chains_in_functions_within_functions),
        cmocka_unit_test(split_dwarf_has_lines_alone),
        cmocka_unit_test(addresses_of_one_call_share_it),
        cmocka_unit_test(a_damaged_tree_costs_what_is_inlined_there),
        cmocka_unit_test(damaged_trees_are_read_or_refused),
        cmocka_unit_test(a_report_as_drawn),
        cmocka_unit_test(records_that_lie_end_a_report),
        cmocka_unit_test(a_name_is_not_empty),
        cmocka_unit_test(reports_have_limits),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
