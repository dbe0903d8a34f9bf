#include "grinder/symbols/lines_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/memory.h"
#include "support/utf8.h"

#include <cmocka.h>

char folder[] = "/tmp/lines_test.XXXXXX";

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

int run(const char *command)
{
    char whole[1024];

    snprintf(whole, sizeof(whole), "cd %s && %s", folder, command);
    return system(whole);
}

void write_file(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    write_file("inner.h", c_header);
    write_file("outer.c", c_source);
    write_file("geometry.cpp", cpp_source);
    write_file("broken.s", broken_source);
    return 0;
}

int remove_folder(void **state)
{
    (void)state;
    assert_int_equal(run("rm -r \"$PWD\""), 0);
    return 0;
}

bool has_program(const char *name)
{
    char command[128];

    snprintf(command, sizeof(command), "command -v %s >/dev/null", name);
    return run(command) == 0;
}

bool compile(const char *compiler, const char *options)
{
    char command[512];

    if (!has_program(compiler))
        return false;
    snprintf(command, sizeof(command),
             "rm -f made* && %s -O2 -fPIC -shared -nostdlib -o made.so %s", compiler, options);
    assert_int_equal(run(command), 0);
    return true;
}

uint64_t address_of(const char *label)
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

void begin_table(struct line_table *table, const char *const *labels, size_t count)
{
    uint64_t *addresses = memory_zeroed(count, sizeof(*addresses));

    for (size_t i = 0; i < count; i++)
        addresses[i] = address_of(labels[i]);
    line_table_begin(table, addresses, count);
}

bool read_made(struct line_table *table, struct failure *failure)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/made.so", folder);
    return line_table_read(table, path, failure);
}

void read_spot(struct line_table *table, const char *label)
{
    struct failure failure = {""};

    begin_table(table, &label, 1);
    line_table_add_spot(table, table->addresses[0]);
    if (!read_made(table, &failure))
        fail_msg("%s", failure.text);
}

void expect_sound(const struct line_table *table)
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
