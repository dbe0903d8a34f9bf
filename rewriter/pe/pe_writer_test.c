/* What is written of hand-made images: headers, tables, and that it can be undone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/manifest.h"
#include "rewriter/patch/stub.h"
#include "rewriter/pe/pe_checksum.h"
#include "rewriter/pe/pe_sample.h"
#include "rewriter/pe/pe_unwind_info.h"
#include "rewriter/tool/image_formats.h"
#include "rewriter/tool/rewrite.h"
#include "rewriter/tool/verify.h"

#include <cmocka.h>

#define ITSELF "/proc/self/exe" /* a path that exists, for the manifest */

#define PUSH_SUB "\x01\x06\x02\x00\x06\x32\x02\x30"
/* push rbx (with a prefix); sub rsp, 32; xor eax, eax; add rsp, 32; pop rbx; ret */
#define FRAMED "\x40\x53\x48\x83\xec\x20\x31\xc0\x48\x83\xc4\x20\x5b\xc3"

static struct pe_sample sample;
static struct pe_image image; /* what was written */
static uint8_t *written;
static size_t written_size;
static struct failure failure;

static int begin(void **state)
{
    (void)state;
    pe_sample_init(&sample);
    pe_sample_code(&sample, 0x1000, FRAMED, sizeof(FRAMED) - 1);
    pe_sample_unwind(&sample, 0x1000, 0x100e, PUSH_SUB, sizeof(PUSH_SUB) - 1);
    return 0;
}

static int descriptor_contents(int descriptor, uint8_t **bytes, size_t *size)
{
    *size = (size_t)lseek(descriptor, 0, SEEK_END);
    *bytes = malloc(*size);
    assert_non_null(*bytes);
    assert_int_equal(pread(descriptor, *bytes, *size, 0), *size);
    return close(descriptor);
}

static bool rewrite(void)
{
    static const struct rewrite_options options;
    static const struct agent agent = {.needed = "hooks.dll"};
    struct output_file output = {.path = "output", .descriptor = memfd_create("output", 0)};
    struct judge_expectation expected;
    struct rewrite_result result;
    uint8_t *copy = malloc(sample.size);
    struct input_file input = {.path = ITSELF, .bytes = copy, .size = sample.size};
    struct image opened;
    bool is_done;

    memcpy(copy, sample.bytes, sample.size);
    is_done = image_open(&opened, &input, &failure);
    if (is_done) {
        is_done = rewrite_image(&opened, &options, &agent, &output, &result, &expected, &failure);
        image_close(&opened);
    }
    free(copy);
    if (!is_done) {
        close(output.descriptor);
        return false;
    }
    descriptor_contents(output.descriptor, &written, &written_size);
    assert_true(pe_image_read(&image, "written", written, written_size, &failure));
    return true;
}

/* Verifies what was written, which must give back the sample. */
static void finish(void)
{
    struct output_file output = {.path = "undone", .descriptor = memfd_create("undone", 0)};
    struct input_file input = {.path = "written", .bytes = written, .size = written_size};
    uint8_t *copy = malloc(written_size), *undone;
    struct verify_result result;
    size_t size;

    pe_image_free(&image);
    memcpy(copy, written, written_size);
    if (!verify_image(&input, &result, &failure))
        fail_msg("%s", failure.text);
    memcpy(written, copy, written_size);
    assert_true(undo_image(&input, &output, &failure));
    descriptor_contents(output.descriptor, &undone, &size);
    assert_int_equal(size, sample.size);
    assert_memory_equal(undone, sample.bytes, size);
    free(undone);
    free(copy);
    free(written);
}

static void agent_is_imported_first(void **state)
{
    struct pe_import imports[3];
    struct bounded_file file;
    struct loaded_ranges ranges;
    struct manifest_place place;
    uint64_t lookup[2];

    (void)state;
    assert_true(rewrite());
    file = bounded_file_of(image.bytes, image.size);
    assert_true(loaded_ranges_read(&ranges, &file));
    assert_true(manifest_find(&place, &file, &ranges));
    loaded_ranges_free(&ranges);
    memcpy(imports, pe_directory_table(&image, PE_IMPORTS, 1).bytes, sizeof(imports));
    assert_string_equal(pe_string(&image, imports[0].name), "hooks.dll");
    assert_int_equal(imports[0].slots,
                     place.header.header_rva + offsetof(struct image_header, entry_hook));
    memcpy(lookup, pe_at_rva(&image, imports[0].lookup, sizeof(lookup)), sizeof(lookup));
    assert_string_equal(pe_string(&image, (uint32_t)lookup[0] + 2), "umbra_enter_13");
    assert_int_equal(lookup[1], 0);
    assert_string_equal(pe_string(&image, imports[1].name), "KERNEL32.dll");
    assert_int_equal(imports[1].slots, PE_SAMPLE_SLOT);
    assert_int_equal(imports[2].name, 0);
    finish();
}

/* The stub's body: push rbx; sub rsp, 32; jmp. All of it is prologue. */
static void displaced_prologue_unwinds(void **state)
{
    struct pe_table table;
    struct pe_runtime_function entries[2];
    struct bounded_file file;
    struct manifest manifest;
    struct unwind_info info;

    (void)state;
    assert_true(rewrite());
    file = bounded_file_of(image.bytes, image.size);
    assert_int_equal(manifest_load(&manifest, &file), MANIFEST_WHOLE);
    table = pe_directory_table(&image, PE_EXCEPTIONS, sizeof(*entries));
    assert_int_equal(table.count, 2);
    memcpy(entries, table.bytes, sizeof(entries));
    assert_int_equal(entries[0].start, 0x1000);
    assert_int_equal(entries[1].start, manifest.functions[0].stub_rva + STUB_FRAME_SIZE);
    assert_int_equal(entries[1].end - entries[1].start, 6 + 5);
    assert_true(unwind_info_read(&info, &image, entries[1].unwind));
    assert_int_equal(info.prologue, 6 + 5);
    assert_int_equal(info.slot_count, 2);
    assert_memory_equal(info.slots, "\x06\x32\x02\x30", 4);
    manifest_free(&manifest);
    finish();
}

static void checksum_is_true_and_no_shadow_stack_is_promised(void **state)
{
    struct pe_debug entry;
    uint32_t word;

    (void)state;
    assert_true(rewrite());
    assert_int_equal(image.header.checksum,
                     pe_checksum(written, written_size, image.optional + 64));
    assert_true(pe_debug_find(&image, PE_DEBUG_CHARACTERISTICS, &entry));
    memcpy(&word, pe_at_rva(&image, entry.rva, sizeof(word)), sizeof(word));
    assert_int_equal(word, 0x40);
    finish();
}

static struct pe_debug *characteristics(void)
{
    struct pe_debug *entries =
        (struct pe_debug *)pe_sample_at(&sample, pe_sample_directory(&sample, PE_DEBUG)->rva);

    assert_int_equal(entries[1].type, PE_DEBUG_CHARACTERISTICS);
    return &entries[1];
}

static void assert_refused(const char *words)
{
    assert_false(rewrite());
    if (!strstr(failure.text, words))
        fail_msg("'%s' does not say '%s'", failure.text, words);
}

/* A damaged entry leads to a function without that bit, whose jump has it. */
static void shadow_stack_bit_is_none_in_a_patch(void **state)
{
    (void)state;
    characteristics()->rva = 0x1000;
    assert_true(rewrite());
    assert_int_equal(*pe_at_rva(&image, 0x1000, 1), 0xe9);
    finish();
}

/* Here it leads to a prologue, and to the middle of a function, that have the bit. */
static void shadow_stack_bit_in_code_is_refused(void **state)
{
    (void)state;
    characteristics()->rva = 0x1001;
    assert_refused("expected code apart from headers and debug entries");
    characteristics()->rva = 0x1006;
    assert_int_equal(*pe_sample_at(&sample, 0x1006) & PE_CET_COMPAT, PE_CET_COMPAT);
    assert_refused("for the CET-compatible bit, found a function at RVA 0x1006");
}

/* Here .rdata is merged into .text. */
static void shadow_stack_bit_beside_code_is_cleared(void **state)
{
    uint32_t word = PE_CET_COMPAT | 0x40;

    (void)state;
    pe_sample_code(&sample, 0x1400, &word, sizeof(word));
    characteristics()->rva = 0x1400;
    assert_true(rewrite());
    memcpy(&word, pe_at_rva(&image, 0x1400, sizeof(word)), sizeof(word));
    assert_int_equal(word, 0x40);
    finish();
}

/*
 * The entry is code, of which the patch takes the type:
 *
 *      0x100a      push rbx (with a prefix)
 *      0x100c      adc al, 0; add [rax], al        type
 *      0x1010      sub rsp, 32                     size
 *      0x1014      and byte [rsi], 0; add al, al   RVA
 *      0x1019      add rsp, 32; pop rbx; ret
 */
static void shadow_stack_bit_is_found_before_patches(void **state)
{
    static const uint8_t code[] = {0x40, 0x53, 0x14, 0x00, 0x00, 0x00, 0x48, 0x83, 0xec, 0x20, 0x80,
                                   0x26, 0x00, 0x00, 0xc0, 0x48, 0x83, 0xc4, 0x20, 0x5b, 0xc3};
    static const uint8_t info[] = {1, 10, 2, 0, 10, 0x32, 2, 0x30};
    uint32_t word;

    (void)state;
    pe_sample_init(&sample);
    pe_sample_code(&sample, 0x100a, code, sizeof(code));
    pe_sample_unwind(&sample, 0x100a, 0x100a + sizeof(code), info, sizeof(info));
    *pe_sample_directory(&sample, PE_DEBUG) =
        (struct pe_directory){0x1000, sizeof(struct pe_debug)};
    assert_true(rewrite());
    assert_int_equal(*pe_at_rva(&image, 0x100a, 1), 0xe9);
    memcpy(&word, pe_at_rva(&image, 0x2680, sizeof(word)), sizeof(word));
    assert_int_equal(word, 0x40);
    finish();
}

/* A third section over what another has in the file. */
static void add_section(uint32_t raw, uint32_t flags)
{
    struct pe_section *sections = (struct pe_section *)(sample.bytes + 0x188);

    sections[2] = (struct pe_section){.name = ".again",
                                      .virtual_size = 0x200,
                                      .rva = 0x3000,
                                      .raw_size = 0x200,
                                      .raw = raw,
                                      .flags = flags};
    pe_sample_file(&sample)->section_count = 3;
    pe_sample_header(&sample)->size_of_image = 0x4000;
}

static void sections_that_share_code_are_refused(void **state)
{
    (void)state;
    pe_sample_unwind(&sample, 0x3000, 0x300e, PUSH_SUB, sizeof(PUSH_SUB) - 1);
    add_section(0x400, PE_SECTION_READ | PE_SECTION_EXECUTE);
    assert_refused("found sections 1 and 3, at RVA 0x1000 and 0x3000, over the same bytes");
    add_section(0x800, PE_SECTION_READ);
    assert_refused("found sections 1 and 3, at RVA 0x1000 and 0x3000, over the same bytes");
    add_section(0x1000, PE_SECTION_READ | PE_SECTION_EXECUTE);
    assert_refused("found sections 2 and 3, at RVA 0x2000 and 0x3000, over the same bytes");
}

/* The debug directory, and the bit it leads to, are in both. */
static void sections_that_share_data_are_taken(void **state)
{
    (void)state;
    add_section(0x1000, PE_SECTION_READ);
    assert_true(rewrite());
    assert_int_equal(*pe_at_rva(&image, 0x3080, 1), 0x40);
    finish();
}

static void overlay_stays_and_ends_the_file(void **state)
{
    (void)state;
    memcpy(sample.bytes + sample.size, "the overlay", 11);
    sample.size += 11;
    assert_true(rewrite());
    assert_memory_equal(written + sample.size - 11, "the overlay", 11);
    assert_memory_equal(written + written_size - 11, "the overlay", 11);
    finish();
}

static void signature_is_dropped(void **state)
{
    (void)state;
    *pe_sample_directory(&sample, PE_CERTIFICATES) =
        (struct pe_directory){(uint32_t)sample.size, 16};
    memcpy(sample.bytes + sample.size, "0123456789abcdef", 16);
    sample.size += 16;
    assert_true(rewrite());
    assert_int_equal(image.directory[PE_CERTIFICATES].size, 0);
    assert_memory_not_equal(written + written_size - 16, "0123456789abcdef", 16);
    finish();
}

/* A directory that names a place behind the file's end is no reason to read there. */
static void certificates_behind_the_end(void **state)
{
    (void)state;
    memcpy(sample.bytes + sample.size, "the overlay", 11);
    sample.size += 11;
    *pe_sample_directory(&sample, PE_CERTIFICATES) = (struct pe_directory){0x70000000, 16};
    assert_true(rewrite());
    assert_memory_equal(written + written_size - 11, "the overlay", 11);
    finish();
}

/* Bound imports right behind the section headers give way. */
static void bound_imports_are_dropped(void **state)
{
    (void)state;
    *pe_sample_directory(&sample, PE_BOUND_IMPORTS) = (struct pe_directory){0x1d8, 16};
    memset(sample.bytes + 0x1d8, 0x11, 16);
    assert_true(rewrite());
    assert_int_equal(image.directory[PE_BOUND_IMPORTS].rva, 0);
    finish();
}

static void unknown_bytes_behind_the_headers_are_respected(void **state)
{
    (void)state;
    memset(sample.bytes + 0x1d8, 0x11, 16);
    assert_false(rewrite());
    assert_non_null(strstr(failure.text, "expected zeros behind the section headers"));
}

/* 13 sections that hold nothing leave no room in 0x400 bytes. */
static void crowd(void)
{
    struct pe_section *sections = (struct pe_section *)(sample.bytes + 0x188);

    for (unsigned i = 2; i < 15; i++)
        sections[i] = (struct pe_section){.name = ".bss",
                                          .virtual_size = 0x1000,
                                          .rva = 0x3000 + (i - 2) * 0x1000,
                                          .flags = PE_SECTION_READ | PE_SECTION_WRITE};
    pe_sample_file(&sample)->section_count = 15;
    pe_sample_header(&sample)->size_of_image = 0x10000;
}

static void headers_grow(void **state)
{
    (void)state;
    crowd();
    assert_true(rewrite());
    assert_int_equal(image.header.size_of_headers, 0x600);
    assert_int_equal(image.sections[0].raw, 0x600);
    assert_memory_equal(pe_build_id(&image).bytes, "0123456789abcdef", 16);
    finish();
}

/* What grows with them is an entry's file offset; here it is a prologue. */
static void debug_entries_in_a_prologue_are_refused(void **state)
{
    (void)state;
    pe_sample_init(&sample);
    crowd();
    pe_sample_code(&sample, 0x1018, FRAMED, sizeof(FRAMED) - 1);
    pe_sample_unwind(&sample, 0x1018, 0x1026, PUSH_SUB, sizeof(PUSH_SUB) - 1);
    *pe_sample_directory(&sample, PE_DEBUG) =
        (struct pe_directory){0x1000, sizeof(struct pe_debug)};
    assert_refused("expected code apart from headers and debug entries, found code to be patched "
                   "among them, at byte 0x618");
}

static void changes_are_found(void **state)
{
    struct input_file input;
    struct verify_result result;

    (void)state;
    assert_true(rewrite());
    pe_image_free(&image);
    written[0x410] ^= 1;
    input = (struct input_file){.path = "written", .bytes = written, .size = written_size};
    assert_false(verify_image(&input, &result, &failure));
    assert_non_null(strstr(failure.text, "changed after it was written"));
    free(written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(agent_is_imported_first, begin),
        cmocka_unit_test_setup(displaced_prologue_unwinds, begin),
        cmocka_unit_test_setup(checksum_is_true_and_no_shadow_stack_is_promised, begin),
        cmocka_unit_test_setup(shadow_stack_bit_is_none_in_a_patch, begin),
        cmocka_unit_test_setup(shadow_stack_bit_in_code_is_refused, begin),
        cmocka_unit_test_setup(shadow_stack_bit_beside_code_is_cleared, begin),
        cmocka_unit_test_setup(shadow_stack_bit_is_found_before_patches, begin),
        cmocka_unit_test_setup(sections_that_share_code_are_refused, begin),
        cmocka_unit_test_setup(sections_that_share_data_are_taken, begin),
        cmocka_unit_test_setup(overlay_stays_and_ends_the_file, begin),
        cmocka_unit_test_setup(signature_is_dropped, begin),
        cmocka_unit_test_setup(certificates_behind_the_end, begin),
        cmocka_unit_test_setup(bound_imports_are_dropped, begin),
        cmocka_unit_test_setup(unknown_bytes_behind_the_headers_are_respected, begin),
        cmocka_unit_test_setup(headers_grow, begin),
        cmocka_unit_test_setup(debug_entries_in_a_prologue_are_refused, begin),
        cmocka_unit_test_setup(changes_are_found, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
