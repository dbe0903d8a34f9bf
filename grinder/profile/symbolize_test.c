/*
 * Names and lines of a real program: this one. Its file, with a manifest written into its data as
 * instrument would have put it there, plays the instrumented image.
 */
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/formats/format.h"
#include "grinder/image/image_file.h"
#include "grinder/image/symbols.h"
#include "grinder/profile/symbolize.h"
#include "grinder/symbols/demangle.h"
#include "grinder/test_traces/ground_sample.h"
#include "image/manifest.h"
#include "support/bounded_file.h"
#include "support/memory.h"

#include <cmocka.h>

#define HASH 0x1122334455667788ull
#define BASE 0x7f1200000000ull /* where the image was loaded, says the trace */

/* The linker's: where this image begins. */
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

static void *return_addresses[2]; /* of the callee, by its argument */

enum { CALLEE_LINE = __LINE__ + 2 };

__attribute__((noinline)) int symbolize_test_callee(int n)
{
    return_addresses[n] = __builtin_return_address(0);
    return n;
}

enum { CALLER_LINE = __LINE__ + 2, CALL_LINE = __LINE__ + 4 };

__attribute__((noinline)) int symbolize_test_caller(int n)
{
    n += symbolize_test_callee(0);
    n += symbolize_test_callee(1);
    return n * 2;
}

/* An instruction of a function that is inlined into another one, and that into a third. */
static void *inlined_instruction;

#define INLINE static inline __attribute__((always_inline))

enum { INSTRUCTION_LINE = __LINE__ + 4 };

INLINE void symbolize_test_innermost(void)
{
    __asm__ volatile("1: lea 1b(%%rip), %0" : "=r"(inlined_instruction));
}

enum { INNER_CALL_LINE = __LINE__ + 4 };

INLINE void symbolize_test_inner(void)
{
    symbolize_test_innermost();
}

enum { OUTER_CALL_LINE = __LINE__ + 4 };

__attribute__((noinline)) static void symbolize_test_outer(void)
{
    symbolize_test_inner();
}

static char folder[] = "/tmp/symbolize_test.XXXXXX";
static char image_path[64], debug_dir[64];
static uint32_t callee_rva, caller_rva, site_rvas[2];

static uint32_t rva_of(uintptr_t address)
{
    return (uint32_t)(address - (uintptr_t)&__ehdr_start);
}

/* Runs a command in the test's folder. */
static void run(const char *command)
{
    char whole[512];

    snprintf(whole, sizeof(whole), "cd %s && %s", folder, command);
    assert_int_equal(system(whole), 0);
}

/* What instrument adds to an image is in this program's data, but for the header's content. */
static struct {
    struct image_manifest head;
    struct manifest_function functions[3];
} manifest = {.head = {.magic = MANIFEST_MAGIC}};
static uint8_t header_room[2 * sizeof(struct image_header)] = "what is in the file";

/* Functions: the caller, the callee, and one where no symbol is. */
static void make_manifest(void)
{
    manifest.head = (struct image_manifest){.magic = MANIFEST_MAGIC,
                                            .version = IMAGE_VERSION,
                                            .size = sizeof(manifest),
                                            .function_count = 3,
                                            .functions = sizeof(struct image_manifest),
                                            .changes = sizeof(manifest),
                                            .imports = sizeof(manifest),
                                            .copies = sizeof(manifest),
                                            .sites = sizeof(manifest),
                                            .stretches = sizeof(manifest),
                                            .blocks = sizeof(manifest),
                                            .ways = sizeof(manifest),
                                            .original_hash = HASH};
    manifest.functions[0] = (struct manifest_function){.rva = caller_rva, .state = FUNCTION_HOOKED};
    manifest.functions[1] = (struct manifest_function){.rva = callee_rva, .state = FUNCTION_HOOKED};
    manifest.functions[2] = (struct manifest_function){.rva = 3, .state = FUNCTION_SKIPPED};
    if (__ehdr_start.e_type == ET_EXEC)
        manifest.head.preferred_base = (uintptr_t)&__ehdr_start;
}

static void put(FILE *image, const struct loaded_ranges *ranges, uint64_t rva, const void *bytes,
                size_t size)
{
    uint64_t offset;

    assert_true(loaded_ranges_find(ranges, rva, size, &offset));
    fseek(image, (long)offset, SEEK_SET);
    assert_int_equal(fwrite(bytes, size, 1, image), 1);
}

/* Makes the copy of this program an instrumented image. */
static void add_manifest(const char *path)
{
    struct image_header header = {.magic = IMAGE_MAGIC, .version = IMAGE_VERSION};
    uint64_t rva = rva_of((uintptr_t)header_room), begin;
    struct bounded_file file;
    struct loaded_ranges ranges;
    struct failure failure;
    FILE *image;

    assert_true(bounded_file_open(&file, path, &failure));
    assert_true(loaded_ranges_read(&ranges, &file));
    bounded_file_close(&file);
    begin = loaded_range_at(&ranges, rva)->rva;
    header.header_rva =
        (uint32_t)(begin + (rva - begin + sizeof(header) - 1) / sizeof(header) * sizeof(header));
    header.manifest_rva = rva_of((uintptr_t)&manifest);
    image = fopen(path, "r+");
    assert_non_null(image);
    put(image, &ranges, header.header_rva, &header, sizeof(header));
    put(image, &ranges, header.manifest_rva, &manifest, sizeof(manifest));
    assert_int_equal(fclose(image), 0);
    loaded_ranges_free(&ranges);
}

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(debug_dir, sizeof(debug_dir), "%s/debug", folder);
    snprintf(image_path, sizeof(image_path), "%s/image", folder);
    symbolize_test_caller(1);
    symbolize_test_outer();
    for (int i = 0; i < 2; i++)
        site_rvas[i] = rva_of((uintptr_t)return_addresses[i]);
    caller_rva = rva_of((uintptr_t)symbolize_test_caller);
    callee_rva = rva_of((uintptr_t)symbolize_test_callee);
    make_manifest();
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    run("rm -r \"$PWD\"");
    return 0;
}

static int make_image(void **state)
{
    char command[256];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf image* && cp /proc/%d/exe image && chmod u+w image",
             (int)getpid());
    run(command);
    add_manifest(image_path);
    return 0;
}

/* A trace in which the caller called the callee, and the third function. */
static void grind(struct ground *ground, uint64_t hash)
{
    struct trace_sample sample;
    uint32_t caller;

    trace_sample_begin(&sample, 7, "./image");
    trace_sample_add_thread(&sample, "main");
    trace_sample_add_module(&sample, image_path, BASE, 1 << 30, 11, 3, hash);
    caller = trace_sample_add_node(&sample, 1, trace_sample_thread(&sample, 1)->root, 0, 11, 1, 9);
    trace_sample_add_node(&sample, 1, caller, BASE + site_rvas[0], 12, 1, 5);
    trace_sample_add_node(&sample, 1, caller, 0x1000, 13, 1, 1);
    ground_begin_with(ground, &sample, false, debug_dir);
}

/* Numbers of functions are given in the order in which contexts lie in the trace. */
enum { CALLER = 1, CALLEE, NAMELESS };

static void expect_lines(const struct ground *ground)
{
    const struct pair_index *edges = &ground->profile.parts[0].edges.keys;
    struct place caller = place_of_function(&ground->images, CALLER);
    struct place callee = place_of_function(&ground->images, CALLEE);
    int found = 0;

    /* Compilers differ in whether a function begins at its name or at its brace. */
    assert_in_range(caller.line, CALLER_LINE, CALLER_LINE + 1);
    assert_in_range(callee.line, CALLEE_LINE, CALLEE_LINE + 1);
    assert_string_equal(strrchr(callee.file, '/'), "/symbolize_test.c");
    for (size_t i = 0; i < edges->count; i++) {
        struct place site = place_of_site(&ground->images, edges->pairs[i].b);
        if (edges->pairs[i].a == ((uint64_t)CALLER << 32 | CALLEE))
            found += site.line == CALL_LINE && site.file_number == caller.file_number;
    }
    assert_int_equal(found, 1);
}

static void expect_name(const struct ground *ground, uint32_t function, const char *name)
{
    assert_string_equal(ground->images.functions[function].name, name);
}

static void names_and_lines_come_from_the_image(void **state)
{
    struct ground ground;

    (void)state;
    grind(&ground, HASH);
    expect_name(&ground, CALLER, "symbolize_test_caller");
    expect_name(&ground, CALLEE, "symbolize_test_callee");
    expect_name(&ground, NAMELESS, "image!0x3");
    expect_lines(&ground);
    ground_free(&ground);
}

static void expect_inlined(const struct ground *ground, uint64_t spot,
                           const struct inlined *inlined, const char *name, uint32_t line)
{
    struct place call;

    assert_non_null(inlined);
    call = place_of_inlined(&ground->images, spot, inlined);
    assert_string_equal(inlined->name, name);
    assert_int_equal(call.line, line);
    assert_int_equal(call.file_number, place_of_spot(&ground->images, spot).file_number);
}

static void inlined_calls_are_found_where_samples_hit(void **state)
{
    uint32_t rva = rva_of((uintptr_t)inlined_instruction);
    const char *const no_dirs[] = {NULL};
    const struct inlined *inlined;
    struct ground ground;
    struct hit_list *hits;
    uint64_t spot;

    (void)state;
    grind(&ground, HASH);
    spot = (uint64_t)ground.images.functions[CALLER].image << 32 | rva;
    assert_null(inlined_at_spot(&ground.images, spot));
    symbolize_forget(&ground.images);
    hits = &ground.profile.parts[0].hits;
    hits->items = memory_grow(hits->items, hits->count, &hits->room, sizeof(*hits->items));
    hits->items[hits->count++] = (struct hit){.spot = spot};
    symbolize(&ground.images, &ground.profile, no_dirs);
    assert_int_equal(place_of_spot(&ground.images, spot).line, INSTRUCTION_LINE);
    inlined = inlined_at_spot(&ground.images, spot);
    expect_inlined(&ground, spot, inlined, "symbolize_test_innermost", INNER_CALL_LINE);
    expect_inlined(&ground, spot, inlined->outer, "symbolize_test_inner", OUTER_CALL_LINE);
    assert_null(inlined->outer->outer);
    expect_lines(&ground);
    ground_free(&ground);
}

/* One of the caller's links leads to each context of the callee, and one to the third function. */
static void grind_links(struct ground *ground)
{
    struct trace_sample sample;
    uint32_t caller, callee, leaf;
    size_t links;

    trace_sample_begin(&sample, 7, "./image");
    trace_sample_header(&sample)->timing = TRACE_TIMING_NONE;
    trace_sample_add_thread(&sample, "main");
    trace_sample_add_module(&sample, image_path, BASE, 1 << 30, 11, 3, HASH);
    caller = trace_sample_add_node(&sample, 1, trace_sample_thread(&sample, 1)->root, 0, 11, 1, 0);
    links = trace_sample_add_links(&sample, caller, 3);
    for (uint32_t i = 0; i < 2; i++) {
        callee = trace_sample_add_node(&sample, 1, caller, BASE + site_rvas[i], 12, 1, 0);
        trace_sample_call(&sample, links, i, trace_sample_add_links(&sample, callee, 0),
                          1000 + 500 * i);
    }
    leaf = trace_sample_add_node(&sample, 1, caller, BASE + site_rvas[1], 13 | TRACE_FUNCTION_LEAF,
                                 0, 0);
    trace_sample_call_node(&sample, links, 2, leaf, 40);
    ground_begin_with(ground, &sample, false, debug_dir);
}

/* A line of the callgrind text: calls from there, as many as costs. */
static void expect_calls(const char *text, uint64_t calls, uint32_t callee_line, int line)
{
    char wanted[128];

    snprintf(wanted, sizeof(wanted), "calls=%" PRIu64 " %" PRIu32 "\n%d %" PRIu64 "\n", calls,
             callee_line, line, calls);
    if (!strstr(text, wanted))
        fail_msg("expected\n%s\nin\n%s", wanted, text);
}

static void calls_of_links_have_their_sites(void **state)
{
    struct ground ground;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    uint32_t callee_line;

    (void)state;
    grind_links(&ground);
    callee_line = place_of_function(&ground.images, CALLEE).line;
    callgrind_write(stream, &(struct view){.profile = &ground.profile,
                                           .images = &ground.images,
                                           .count = ground.profile.part_count});
    fclose(stream);
    expect_calls(text, 1001, callee_line, CALL_LINE);
    expect_calls(text, 1501, callee_line, CALL_LINE + 1);
    expect_calls(text, 40, 0, CALL_LINE + 1);
    ground_free(&ground);
    free(text);
}

static void names_and_lines_come_from_a_linked_debug_file(void **state)
{
    struct ground ground;

    (void)state;
    run("objcopy --only-keep-debug image image.debug && strip image && "
        "objcopy --add-gnu-debuglink=image.debug image");
    grind(&ground, HASH);
    expect_name(&ground, CALLEE, "symbolize_test_callee");
    expect_lines(&ground);
    ground_free(&ground);
}

static void names_and_lines_come_from_a_debug_file_by_build_id(void **state)
{
    struct ground ground;

    (void)state;
    run("id=$(readelf -n image | sed -n 's/.*Build ID: //p') && "
        "dir=debug/.build-id/$(echo $id | cut -c 1-2) && mkdir -p $dir && "
        "objcopy --only-keep-debug image $dir/$(echo $id | cut -c 3-).debug && strip image");
    grind(&ground, HASH);
    run("rm -r debug");
    expect_name(&ground, CALLEE, "symbolize_test_callee");
    expect_lines(&ground);
    ground_free(&ground);
}

static void a_debug_file_with_another_checksum_is_no_debug_file(void **state)
{
    struct ground ground;

    (void)state;
    run("objcopy --only-keep-debug image image.debug && strip image && "
        "objcopy --add-gnu-debuglink=image.debug image && echo >> image.debug");
    grind(&ground, HASH);
    assert_non_null(strstr(ground.images.functions[CALLEE].name, "image!0x"));
    assert_int_equal(place_of_function(&ground.images, CALLEE).line, 0);
    ground_free(&ground);
}

static void damaged_line_tables_cost_lines_only(void **state)
{
    struct ground ground;

    (void)state;
    run("head -c 100000 /dev/urandom > noise && "
        "objcopy --update-section .debug_line=noise --update-section .debug_abbrev=noise image");
    grind(&ground, HASH);
    expect_name(&ground, CALLEE, "symbolize_test_callee");
    ground_free(&ground);
}

static void another_image_at_the_path_lends_no_names(void **state)
{
    struct ground ground;

    (void)state;
    grind(&ground, HASH + 1);
    expect_name(&ground, CALLER, "image!#0");
    assert_string_equal(ground.images.images[1].problem, "has changed since it was recorded");
    ground_free(&ground);
}

static void an_image_that_is_gone_lends_no_names(void **state)
{
    struct ground ground;

    (void)state;
    run("rm image");
    grind(&ground, HASH);
    expect_name(&ground, NAMELESS, "image!#2");
    ground_free(&ground);
}

static void clear_section_headers(void)
{
    FILE *image = fopen(image_path, "r+");
    Elf64_Ehdr header;

    assert_non_null(image);
    assert_int_equal(fread(&header, sizeof(header), 1, image), 1);
    header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
    rewind(image);
    assert_int_equal(fwrite(&header, sizeof(header), 1, image), 1);
    assert_int_equal(fclose(image), 0);
}

static void a_manifest_is_found_without_section_headers(void **state)
{
    struct image_file file;
    struct manifest found;
    struct failure failure = {""};

    (void)state;
    clear_section_headers();
    assert_true(image_file_open(&file, image_path, &failure));
    assert_true(image_file_manifest(&file, &found, &failure));
    assert_int_equal(found.function_count, 3);
    assert_int_equal(found.hooked, 2);
    manifest_free(&found);
    image_file_close(&file);
}

/* Replaces the byte at that offset of the image; returns what it was. */
static int poke(FILE *image, long at, int byte)
{
    int before;

    fseek(image, at, SEEK_SET);
    before = fgetc(image);
    fseek(image, at, SEEK_SET);
    fputc(byte, image);
    fflush(image);
    return before;
}

static void read_image(void)
{
    static const char *no_dirs[] = {NULL};
    struct symbol_table symbols = {0};
    struct manifest found;
    struct image_file file;
    struct failure failure = {""};

    if (!image_file_open(&file, image_path, &failure))
        return;
    image_file_manifest(&file, &found, &failure);
    image_file_symbols(&file, "image", &symbols);
    symbol_table_sort(&symbols);
    free(image_file_debug_path(&file, no_dirs, image_path));
    manifest_free(&found);
    symbol_table_free(&symbols);
    image_file_close(&file);
}

/* The header and the section headers, a byte at a time. */
static void damaged_images_are_read_or_refused(void **state)
{
    FILE *image = fopen(image_path, "r+");
    Elf64_Ehdr header;
    unsigned random = 1;

    (void)state;
    assert_non_null(image);
    assert_int_equal(fread(&header, sizeof(header), 1, image), 1);
    for (int round = 0; round < 600; round++) {
        long sections_size = (long)(header.e_shnum * sizeof(Elf64_Shdr));
        long at = round % 3 ? (long)header.e_shoff + rand_r(&random) % sections_size
                            : rand_r(&random) % (long)sizeof(header);
        int before = poke(image, at, rand_r(&random) % 4 ? rand_r(&random) % 256 : 255);
        read_image();
        poke(image, at, before);
    }
    fclose(image);
}

static void expect_demangled(const char *symbol, const char *name)
{
    char *found = demangle(symbol);

    assert_string_equal(found, name);
    free(found);
}

static void names_are_demangled(void **state)
{
    (void)state;
    expect_demangled("main", "main");
    expect_demangled("memcpy@@GLIBC_2.14", "memcpy");
    expect_demangled("_ZN3foo3barEi", "foo::bar(int)");
    expect_demangled("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
    expect_demangled("_RNvC6_123foo3bar", "123foo::bar");
    expect_demangled("_broken\x01name", "_broken?name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names_and_lines_come_from_the_image, make_image),
        cmocka_unit_test_setup(inlined_calls_are_found_where_samples_hit, make_image),
        cmocka_unit_test_setup(calls_of_links_have_their_sites, make_image),
        cmocka_unit_test_setup(names_and_lines_come_from_a_linked_debug_file, make_image),
        cmocka_unit_test_setup(names_and_lines_come_from_a_debug_file_by_build_id, make_image),
        cmocka_unit_test_setup(a_debug_file_with_another_checksum_is_no_debug_file, make_image),
        cmocka_unit_test_setup(damaged_line_tables_cost_lines_only, make_image),
        cmocka_unit_test_setup(another_image_at_the_path_lends_no_names, make_image),
        cmocka_unit_test_setup(an_image_that_is_gone_lends_no_names, make_image),
        cmocka_unit_test_setup(a_manifest_is_found_without_section_headers, make_image),
        cmocka_unit_test_setup(damaged_images_are_read_or_refused, make_image),
        cmocka_unit_test(names_are_demangled),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
