/* A function for every way a PE image tells of one, and for each reason that is PE's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "rewriter/patch/patch_decide.h"
#include "rewriter/patch/patch_plan.h"
#include "rewriter/pe/pe_code.h"
#include "rewriter/pe/pe_discover.h"
#include "rewriter/pe/pe_imports.h"
#include "rewriter/pe/pe_names.h"
#include "rewriter/pe/pe_sample.h"

#include <cmocka.h>

#define CODE(rva, bytes)          pe_sample_code(&sample, rva, bytes, sizeof(bytes) - 1)
#define UNWIND(start, end, bytes) pe_sample_unwind(&sample, start, end, bytes, sizeof(bytes) - 1)

/* UNWIND_INFO: sub rsp, 40 in the first 4 bytes. The handler is RVA 0x1500. */
#define SUB_40         "\x01\x04\x01\x00\x04\x42\x00\x00"
#define SUB_40_GUARDED "\x09\x04\x01\x00\x04\x42\x00\x00\x00\x15\x00\x00"
#define SUB_40_AT_0    "\x01\x00\x01\x00\x00\x42\x00\x00"
#define CHAINED        "\x21\x00\x00\x00\x00\x10\x00\x00\x10\x10\x00\x00\x00\x22\x00\x00"
#define LEAF           "\x01\x00\x00\x00"
/* push rbp; mov rbp, rsp; the same handler. */
#define BUILTIN "\x09\x04\x02\x05\x04\x03\x01\x50\x00\x15\x00\x00"

/* sub rsp, 40; nop [rax + rax]; add rsp, 40; ret */
#define FRAMED "\x48\x83\xec\x28\x0f\x1f\x44\x00\x00\x48\x83\xc4\x28\xc3"

static struct pe_sample sample;
static struct pe_image image;
static struct pe_code pe;
static struct patch_plan plan;

static void analyse(bool imports)
{
    struct failure failure;

    assert_true(pe_image_read(&image, "sample", sample.bytes, sample.size, &failure));
    pe_code_read(&pe, &image, &(struct pe_code_options){.instrument_imports = imports});
    plan = (struct patch_plan){.code = &pe.code,
                               .functions = &pe.functions,
                               .map = &pe.map,
                               .base = image.base,
                               .end = image.end};
    patch_decide(&plan);
}

static const struct function *at(uint32_t rva)
{
    return function_list_at(&pe.functions, PE_SAMPLE_BASE + rva);
}

static void assert_reason(uint32_t rva, enum patch_reason reason)
{
    const struct function *function = at(rva);

    if (!function)
        fail_msg("no function at %#x", rva);
    if (function->reason != reason)
        fail_msg("%#x: %s, should be %s", rva, patch_reason_word(function->reason),
                 patch_reason_word((uint8_t)reason));
}

static int end(void **state)
{
    (void)state;
    patch_plan_free(&plan);
    pe_code_free(&pe);
    pe_image_free(&image);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    pe_sample_init(&sample);
    CODE(0x1000, FRAMED);
    UNWIND(0x1000, 0x100e, SUB_40);
    return 0;
}

static void unwind_information_tells_functions_from_fragments(void **state)
{
    (void)state;
    CODE(0x1010, FRAMED);
    CODE(0x1020, FRAMED);
    UNWIND(0x1010, 0x101e, CHAINED);
    UNWIND(0x1020, 0x102e, SUB_40_AT_0);
    analyse(false);
    assert_reason(0x1000, PATCH_PLAIN);
    assert_reason(0x1010, PATCH_FRAGMENT);
    assert_reason(0x1020, PATCH_FRAGMENT);
    assert_int_equal(at(0x1000)->displaced, 9);
}

/* 0x1000 calls 0x1040, which .pdata does not know; a call to its middle; a call to 0x100c. */
static void calls_tell_leaves(void **state)
{
    (void)state;
    CODE(0x1020, "\x48\x83\xec\x28\xe8\x17\x00\x00\x00\xe8\xde\xff\xff\xff\x48\x83\xc4\x28\xc3");
    UNWIND(0x1020, 0x1033, SUB_40);
    CODE(0x1040, "\x8d\x41\x01\x0f\x1f\x40\x00\xc3");
    analyse(false);
    assert_reason(0x1040, PATCH_PLAIN);
    assert_int_equal(at(0x1040)->unwind, 0);
    assert_reason(0x100c, PATCH_INSIDE_FUNCTION);
}

/* mov rax, [rsp]; ret: by the convention a leaf's return address is there. */
static void leaves_that_read_their_return_address(void **state)
{
    (void)state;
    CODE(0x1020, "\x48\x83\xec\x28\xe8\x17\x00\x00\x00\x48\x83\xc4\x28\xc3");
    UNWIND(0x1020, 0x102e, SUB_40);
    CODE(0x1040, "\x8d\x41\x01\x90\x48\x8b\x04\x24\xc3");
    analyse(false);
    assert_reason(0x1040, PATCH_RETURN_ADDRESS);
}

/* sub rsp, 40; mov rax, [rsp + 40] */
static void frames_that_read_their_return_address(void **state)
{
    (void)state;
    CODE(0x1010, "\x48\x83\xec\x28\x48\x8b\x44\x24\x28\x48\x83\xc4\x28\xc3");
    UNWIND(0x1010, 0x101e, SUB_40);
    analyse(false);
    assert_reason(0x1010, PATCH_RETURN_ADDRESS);
}

/* call thunk; thunk: jmp [rip + slot]; and with imports call [rip + slot + 8]. */
static void imports_have_thunks_and_slots(void **state)
{
    (void)state;
    CODE(0x1020,
         "\x48\x83\xec\x28\xe8\x17\x00\x00\x00\xff\x15\x59\x14\x00\x00\x48\x83\xc4\x28\xc3");
    UNWIND(0x1020, 0x1034, SUB_40);
    CODE(0x1040, "\xff\x25\x3a\x14\x00\x00");
    analyse(true);
    assert_reason(0x1040, PATCH_PLT);
    assert_reason(PE_SAMPLE_SLOT, PATCH_IMPORT);
    assert_string_equal(at(PE_SAMPLE_SLOT)->name, "Sleep");
    assert_reason(PE_SAMPLE_SLOT + 8, PATCH_IMPORT);
    assert_string_equal(at(PE_SAMPLE_SLOT + 8)->name, "KERNEL32.dll#7");
}

/* call [rip + slot], where a slot bound at the first call is. */
static void delay_imports_count_too(void **state)
{
    struct pe_delay_import import = {.attributes = 1,
                                     .name = PE_SAMPLE_FREE + 0x60,
                                     .slots = PE_SAMPLE_FREE + 0x80,
                                     .lookup = PE_SAMPLE_FREE + 0x40};
    const uint64_t lookup[] = {PE_SAMPLE_FREE + 0x70, 0};

    (void)state;
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE), &import, sizeof(import));
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE + 0x40), lookup, sizeof(lookup));
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE + 0x60), "GDI32.dll", 10);
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE + 0x72), "Ellipse", 8);
    *pe_sample_directory(&sample, PE_DELAY_IMPORTS) =
        (struct pe_directory){PE_SAMPLE_FREE, 2 * sizeof(import)};
    CODE(0x1020, "\x48\x83\xec\x28\xff\x15\x56\x17\x00\x00\x48\x83\xc4\x28\xc3");
    UNWIND(0x1020, 0x102f, SUB_40);
    analyse(true);
    assert_reason(PE_SAMPLE_FREE + 0x80, PATCH_IMPORT);
    assert_string_equal(at(PE_SAMPLE_FREE + 0x80)->name, "Ellipse");
}

/* Export 0 is at 0x1060, named; TLS callback 0x1080; guard CF entry 0x10c0; entry point 0x1100. */
static void images_name_their_entries(void **state)
{
    struct pe_exports exports = {.address_count = 2,
                                 .name_count = 1,
                                 .addresses = PE_SAMPLE_FREE + 0x28,
                                 .names = PE_SAMPLE_FREE + 0x30,
                                 .ordinals = PE_SAMPLE_FREE + 0x34};
    const uint32_t tables[] = {0x1060, PE_SAMPLE_FREE + 0x38, PE_SAMPLE_FREE + 0x36, 0x70610000};
    struct pe_tls tls = {.callbacks = PE_SAMPLE_BASE + PE_SAMPLE_FREE + 0x70};
    uint64_t callback = PE_SAMPLE_BASE + 0x1080;
    struct pe_load_config config = {.size = sizeof(config)};
    const uint8_t guarded[] = {0xc0, 0x10, 0, 0, 0,  /* a byte behind each RVA */
                               0xe3, 0x10, 0, 0, 0}; /* in the middle of what is at 0x10e0 */

    (void)state;
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE), &exports, sizeof(exports));
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE + 0x28), tables, sizeof(tables));
    *pe_sample_directory(&sample, PE_EXPORTS) = (struct pe_directory){PE_SAMPLE_FREE, 0x40};
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE + 0x48), &tls, sizeof(tls));
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE + 0x70), &callback, sizeof(callback));
    *pe_sample_directory(&sample, PE_TLS) =
        (struct pe_directory){PE_SAMPLE_FREE + 0x48, sizeof(tls)};
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE + 0x80), guarded, sizeof(guarded));
    config.guard_functions = PE_SAMPLE_BASE + PE_SAMPLE_FREE + 0x80;
    config.guard_function_count = 1;
    config.guard_continuations = config.guard_functions + 5;
    config.guard_continuation_count = 1;
    config.guard_flags = 1u << PE_GUARD_ENTRY_SHIFT;
    memcpy(pe_sample_at(&sample, 0x22e0), &config, sizeof(config));
    *pe_sample_directory(&sample, PE_LOAD_CONFIG) = (struct pe_directory){0x22e0, sizeof(config)};
    pe_sample_header(&sample)->entry = 0x1100;
    for (uint32_t rva = 0x1060; rva <= 0x1100; rva += 0x20)
        CODE(rva, "\x8d\x41\x01\x0f\x1f\x40\x00\xc3");
    analyse(false);
    assert_reason(0x1060, PATCH_PLAIN);
    assert_string_equal(at(0x1060)->name, "ap");
    assert_reason(0x1080, PATCH_PLAIN);
    assert_null(at(0x10a0));
    assert_null(at(0x10e3));
    assert_true(address_set_has(&pe.map.jumps, PE_SAMPLE_BASE + 0x10e3));
    assert_reason(0x10c0, PATCH_PLAIN);
    assert_reason(0x1100, PATCH_PLAIN);
}

static void imports_are_left_alone_by_name(void **state)
{
    (void)state;
    assert_int_equal(pe_import_reason("RtlUnwindEx"), PATCH_UNWINDER);
    assert_int_equal(pe_import_reason("RtlCaptureContext"), PATCH_RETURN_ADDRESS);
    assert_int_equal(pe_import_reason("_setjmp"), PATCH_RETURNS_TWICE);
    assert_int_equal(pe_import_reason("__chkstk"), PATCH_IMPORT_SPECIAL);
    assert_int_equal(pe_import_reason("ReadFile"), PATCH_UNDECIDED);
    pe_sample_code(&sample, 0x1010, FRAMED, sizeof(FRAMED) - 1);
    analyse(false);
}

/*
 * sub rsp, 40; mov eax, [rcx]; add rsp, 40; ret: the load must stay where the function's handler
 * knows it, so only the first instruction moves, for a short jump to the padding. Without padding
 * within reach there is no way.
 */
static void guarded_loads_stay(void **state)
{
    (void)state;
    CODE(0x1100, "\x48\x83\xec\x28\x8b\x01\x48\x83\xc4\x28\xc3");
    UNWIND(0x1100, 0x110b, SUB_40_GUARDED);
    analyse(false);
    assert_reason(0x1100, PATCH_SHORT_JUMP);
    assert_int_equal(at(0x1100)->displaced, 4);
}

static void guarded_loads_without_room(void **state)
{
    (void)state;
    memset(pe_sample_at(&sample, 0x1010), 0x99, 0x200); /* cdq: no padding */
    CODE(0x1100, "\x48\x83\xec\x28\x8b\x01\x48\x83\xc4\x28\xc3");
    UNWIND(0x1100, 0x110b, SUB_40_GUARDED);
    analyse(false);
    assert_reason(0x1100, PATCH_GUARDED);
}

/* mov rax, imm64, which is relocated: it must stay where the loader finds it. */
static void relocated_code_stays(void **state)
{
    (void)state;
    memset(pe_sample_at(&sample, 0x1010), 0x99, 0x200);
    CODE(0x1100, "\x48\xb8\x00\x10\x00\x40\x01\x00\x00\x00\xc3");
    UNWIND(0x1100, 0x110b, LEAF);
    pe_sample_relocate(&sample, 0x1102);
    analyse(false);
    assert_true(at(0x1100));
    assert_false(patch_reason_is_hooked(at(0x1100)->reason));
}

/*
 * lea rdx, [base]; mov ecx, [rdx + rax * 4 + 0x1060]; add rcx, rdx; jmp rcx; then the table, in
 * which a sweep would find a call.
 */
static void tables_in_code_are_no_code(void **state)
{
    (void)state;
    CODE(0x1040, "\x48\x8d\x15\xb9\xef\xff\xff\x8b\x8c\x82\x60\x10\x00\x00\x48\x03\xca\xff\xe1"
                 "\x90\x90\xc3");
    CODE(0x1060, "\x53\x10\x00\x00\x00\xe8\x1a\x00\x00\x00");
    UNWIND(0x1040, 0x1070, LEAF);
    CODE(0x1084, "\x8d\x41\x01\x0f\x1f\x40\x00\xc3");
    CODE(0x10a0, "\x48\x83\xec\x28\xe8\x97\xff\xff\xff\x48\x83\xc4\x28\xc3"); /* call 0x1040 */
    UNWIND(0x10a0, 0x10ae, SUB_40);
    analyse(false);
    assert_reason(0x1040, PATCH_ADJUSTED);
    assert_true(address_set_has(&pe.map.inline_tables, PE_SAMPLE_BASE + 0x1060));
    assert_true(address_set_has(&pe.map.jumps, PE_SAMPLE_BASE + 0x1053));
    assert_null(at(0x1084));
}

static void names_say_what_to_leave(void **state)
{
    (void)state;
    assert_int_equal(pe_name_reason("foo.cold"), PATCH_FRAGMENT);
    assert_int_equal(pe_name_reason("_setjmpex"), PATCH_RETURNS_TWICE);
    assert_int_equal(pe_name_reason("_Unwind_Resume"), PATCH_UNWINDER);
    assert_int_equal(pe_name_reason("___chkstk_ms"), PATCH_UNDECIDED);
    analyse(false);
}

/* So many functions, each 32 bytes behind the one before, that share their unwind information. */
static void put_row(const void *info, size_t size, uint32_t count)
{
    const struct pe_directory *directory = pe_sample_directory(&sample, PE_EXCEPTIONS);
    struct pe_runtime_function entry;
    uint32_t shared = sample.unwind;

    for (uint32_t rva = 0x1010; rva < 0x1010 + count * 32; rva += 32) {
        uint8_t *at = pe_sample_at(&sample, PE_SAMPLE_DATA + directory->size);

        CODE(rva, FRAMED);
        pe_sample_unwind(&sample, rva, rva + 14, info, size);
        memcpy(&entry, at, sizeof(entry));
        entry.unwind = shared;
        memcpy(at, &entry, sizeof(entry));
    }
}

static void builtins_of_v8_are_told_by_their_unwind_information(void **state)
{
    (void)state;
    put_row(BUILTIN, sizeof(BUILTIN) - 1, 8);
    CODE(0x1150, FRAMED);
    UNWIND(0x1150, 0x115e, SUB_40);
    analyse(false);
    assert_reason(0x1010, PATCH_GENERATED);
    assert_reason(0x10f0, PATCH_GENERATED);
    assert_reason(0x1150, PATCH_PLAIN);
    assert_int_equal(pe.generated.rva, 0x1010);
    assert_int_equal(pe.generated.size, 0x10fe - 0x1010);
}

static void others_that_share_unwind_information_are_none(void **state)
{
    (void)state;
    put_row(SUB_40, sizeof(SUB_40) - 1, 8);
    analyse(false);
    assert_reason(0x1010, PATCH_PLAIN);
    assert_int_equal(pe.generated.size, 0);
}

static void few_of_them_are_none(void **state)
{
    (void)state;
    put_row(BUILTIN, sizeof(BUILTIN) - 1, 7);
    analyse(false);
    assert_int_equal(pe.generated.size, 0);
}

static void padding_is_no_function(void **state)
{
    (void)state;
    CODE(0x1024, FRAMED);
    UNWIND(0x1020, 0x1032, SUB_40);
    analyse(false);
    assert_reason(0x1020, PATCH_FRAGMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(unwind_information_tells_functions_from_fragments, begin,
                                        end),
        cmocka_unit_test_setup_teardown(calls_tell_leaves, begin, end),
        cmocka_unit_test_setup_teardown(leaves_that_read_their_return_address, begin, end),
        cmocka_unit_test_setup_teardown(frames_that_read_their_return_address, begin, end),
        cmocka_unit_test_setup_teardown(imports_have_thunks_and_slots, begin, end),
        cmocka_unit_test_setup_teardown(delay_imports_count_too, begin, end),
        cmocka_unit_test_setup_teardown(images_name_their_entries, begin, end),
        cmocka_unit_test_setup_teardown(imports_are_left_alone_by_name, begin, end),
        cmocka_unit_test_setup_teardown(guarded_loads_stay, begin, end),
        cmocka_unit_test_setup_teardown(guarded_loads_without_room, begin, end),
        cmocka_unit_test_setup_teardown(relocated_code_stays, begin, end),
        cmocka_unit_test_setup_teardown(tables_in_code_are_no_code, begin, end),
        cmocka_unit_test_setup_teardown(names_say_what_to_leave, begin, end),
        cmocka_unit_test_setup_teardown(builtins_of_v8_are_told_by_their_unwind_information, begin,
                                        end),
        cmocka_unit_test_setup_teardown(others_that_share_unwind_information_are_none, begin, end),
        cmocka_unit_test_setup_teardown(few_of_them_are_none, begin, end),
        cmocka_unit_test_setup_teardown(padding_is_no_function, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
