#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grinder/symbols/jit_read.h"
#include "support/memory.h"

#include <cmocka.h>

static struct jit_map map;
static uint8_t dump[4096];
static size_t dump_size;

/* -1 if it was refused. */
static int read_bytes(const void *bytes, size_t size)
{
    struct bounded_file file = {.fd = memfd_create("map", 0), .size = size};
    struct failure failure = {""};
    bool is_read;

    assert_int_equal(write(file.fd, bytes, size), size);
    is_read = jit_map_read(&map, &file, &failure);
    assert_true(is_read || *failure.text);
    close(file.fd);
    return is_read ? 0 : -1;
}

static int read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

static const char *name_at(uint64_t address)
{
    const struct jit_code *code = jit_map_find(&map, address);

    return code ? code->name : "none";
}

/* The line of an address, as "file:line". */
static const char *place_at(uint64_t address)
{
    static char text[256];
    const struct jit_code *code = jit_map_find(&map, address);
    struct line_table table = {0};
    struct line line;

    assert_non_null(code);
    line_table_begin(&table, memory_zeroed(1, sizeof(uint64_t)), 1);
    table.addresses[0] = code->rva + (address - code->start);
    jit_map_lines(&map, &table);
    line = line_table_find(&table, table.addresses[0]);
    snprintf(text, sizeof(text), "%s:%u", line.file ? table.files[line.file] : "?", line.line);
    line_table_free(&table);
    return text;
}

static void a_line_is_a_range_and_a_name(void **state)
{
    (void)state;
    assert_int_equal(read_text("1000 20 first\n0x2000 0x10 second one\nABC0 a third\n"), 0);
    assert_string_equal(name_at(0xfff), "none");
    assert_string_equal(name_at(0x1000), "first");
    assert_string_equal(name_at(0x101f), "first");
    assert_string_equal(name_at(0x1020), "none");
    assert_string_equal(name_at(0x2005), "second one");
    assert_string_equal(name_at(0xabc9), "third");
    assert_string_equal(name_at(0xabca), "none");
    assert_int_equal(map.bad, 0);
    jit_map_free(&map);
}

/* | first ------------ | then a piece of it is used again, and a piece of that. */
static void later_code_takes_addresses_over(void **state)
{
    (void)state;
    assert_int_equal(read_text("1000 100 first\n1040 40 second\n1030 20 third\n2000 8 first\n"), 0);
    assert_string_equal(name_at(0x102f), "first");
    assert_string_equal(name_at(0x1030), "third");
    assert_string_equal(name_at(0x104f), "third");
    assert_string_equal(name_at(0x1050), "second");
    assert_string_equal(name_at(0x1080), "first");
    assert_int_equal(jit_map_find(&map, 0x2000)->function, 0);
    jit_map_free(&map);
}

static void names_of_node_end_in_a_place(void **state)
{
    (void)state;
    assert_int_equal(read_text("1000 20 JS:*f /home/me/a b.js:7:16\n"
                               "2000 20 Builtin:Call\n"
                               "3000 20 JS:~ node:fs:123456:1\n"
                               "4000 20 x:1:2\n"
                               "5000 20 f :1:2\n"),
                     0);
    assert_string_equal(place_at(0x1000), "/home/me/a b.js:7");
    assert_string_equal(place_at(0x1001), "?:0");
    assert_string_equal(place_at(0x2000), "?:0");
    assert_string_equal(place_at(0x3000), "node:fs:123456");
    assert_string_equal(place_at(0x4000), "?:0");
    assert_string_equal(place_at(0x5000), "?:0");
    jit_map_free(&map);
}

static void lines_that_make_no_sense_are_left_out(void **state)
{
    (void)state;
    assert_int_equal(read_text("1000 20 good\n\nnonsense\n2000\n2000 20\n"
                               "11112222333344445 1 too long\n3000 0 empty\n"
                               "fffffffffffffff0 20 wraps\n4000 ffffffff too much\n"
                               "5000 10 esc\x1b[0mape\n6000 10 cut o"),
                     0);
    assert_int_equal(map.bad, 7);
    assert_int_equal(map.count, 2);
    assert_string_equal(name_at(0x1000), "good");
    assert_string_equal(name_at(0x5000), "esc?[0mape");
    assert_string_equal(name_at(0x6000), "none");
    jit_map_free(&map);
    assert_int_equal(read_text("nothing of the kind\n"), -1);
    assert_int_equal(read_text(""), 0);
    assert_string_equal(name_at(0), "none");
    jit_map_free(&map);
}

static void put(uint64_t value, size_t size)
{
    memcpy(dump + dump_size, &value, size);
    dump_size += size;
}

static void put_text(const char *text)
{
    memcpy(dump + dump_size, text, strlen(text) + 1);
    dump_size += strlen(text) + 1;
}

static void begin_dump(uint32_t pid)
{
    dump_size = 0;
    put(0x4a695444, 4);
    put(1, 4);
    put(40, 4);
    put(62, 4);
    put(0, 4);
    put(pid, 4);
    put(1234, 8);
    put(0, 8);
}

static size_t begin_record(uint32_t id)
{
    put(id, 4);
    put(0, 4);
    put(5678, 8);
    return dump_size - 16;
}

static void end_record(size_t begin)
{
    uint32_t size = (uint32_t)(dump_size - begin);

    memcpy(dump + begin + 4, &size, sizeof(size));
}

static void put_load(uint64_t address, uint64_t size, uint64_t id, const char *name)
{
    size_t begin = begin_record(0);

    put(7, 8);
    put(address, 8);
    put(address, 8);
    put(size, 8);
    put(id, 8);
    put_text(name);
    put(0xc3c3, 2);
    end_record(begin);
}

static void put_move(uint64_t from, uint64_t to, uint64_t size, uint64_t id)
{
    size_t begin = begin_record(1);

    put(7, 8);
    put(to, 8);
    put(from, 8);
    put(to, 8);
    put(size, 8);
    put(id, 8);
    end_record(begin);
}

/* shift: V8 adds 64. */
static void put_debug_info(uint64_t address, uint64_t shift)
{
    size_t begin = begin_record(2);

    put(address, 8);
    put(2, 8);
    put(address + shift + 4, 8);
    put(12, 4);
    put(0, 4);
    put_text("made.js");
    put(address + shift, 8);
    put(10, 4);
    put(0, 4);
    put_text("\xff");
    end_record(begin);
}

static void a_jitdump_has_names_lines_and_moves(void **state)
{
    (void)state;
    begin_dump(77);
    put_debug_info(0x1000, 0);
    put_load(0x1000, 0x20, 1, "first");
    put_load(0x2000, 0x20, 2, "second");
    end_record(begin_record(9)); /* a kind not known yet */
    put_move(0x1000, 0x3000, 0x20, 1);
    put_load(0x1000, 0x10, 3, "third");
    end_record(begin_record(3));
    put_load(0x4000, 0x10, 4, "behind the end");
    assert_int_equal(read_bytes(dump, dump_size), 0);
    assert_int_equal(map.pid, 77);
    assert_int_equal(map.bad, 0);
    assert_string_equal(name_at(0x3000), "first");
    assert_string_equal(name_at(0x2000), "second");
    assert_string_equal(name_at(0x1000), "third");
    assert_string_equal(name_at(0x1010), "first");
    assert_string_equal(name_at(0x4000), "none");
    assert_string_equal(place_at(0x3003), "made.js:10");
    assert_string_equal(place_at(0x3004), "made.js:12");
    assert_string_equal(place_at(0x2000), "?:0");
    assert_int_equal(jit_map_find(&map, 0x3000)->function, 0);
    jit_map_free(&map);
}

static void lines_of_v8_are_64_bytes_ahead(void **state)
{
    (void)state;
    begin_dump(77);
    put_debug_info(0x1000, 64);
    put_load(0x1000, 0x80, 1, "first");
    assert_int_equal(read_bytes(dump, dump_size), 0);
    assert_string_equal(place_at(0x1003), "made.js:10");
    assert_string_equal(place_at(0x1004), "made.js:12");
    jit_map_free(&map);
}

static void a_damaged_jitdump_costs_what_is_damaged(void **state)
{
    size_t whole;

    (void)state;
    begin_dump(77);
    put_load(0x1000, 0x20, 1, "first");
    put_move(0x1004, 0x3000, 0x20, 1);
    put_move(0x1000, 0x3000, 0x20, 5);
    whole = dump_size;
    put_load(0x2000, 0x20, 2, "second");
    for (size_t size = whole + 1; size < dump_size; size++) {
        assert_int_equal(read_bytes(dump, size), 0);
        assert_int_equal(map.count, 1);
        assert_true(map.bad >= 2);
        jit_map_free(&map);
    }
    assert_int_equal(read_bytes(dump, 39), -1);
    dump[4] = 2;
    assert_int_equal(read_bytes(dump, dump_size), -1);
    memcpy(dump, "JiTD", 4);
    assert_int_equal(read_bytes(dump, dump_size), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_range_and_a_name),
        cmocka_unit_test(later_code_takes_addresses_over),
        cmocka_unit_test(names_of_node_end_in_a_place),
        cmocka_unit_test(lines_that_make_no_sense_are_left_out),
        cmocka_unit_test(a_jitdump_has_names_lines_and_moves),
        cmocka_unit_test(lines_of_v8_are_64_bytes_ahead),
        cmocka_unit_test(a_damaged_jitdump_costs_what_is_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
