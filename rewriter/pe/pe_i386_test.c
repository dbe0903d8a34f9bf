/* Images of 32 bits: how their functions are found, which are left alone, and what becomes of
 * relocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rewriter/patch/patch_decide.h"
#include "rewriter/pe/pe_discover.h"
#include "rewriter/pe/pe_sample.h"
#include "rewriter/tool/image_formats.h"
#include "rewriter/tool/rewrite.h"
#include "rewriter/tool/verify.h"

#include <cmocka.h>

#define ITSELF "/proc/self/exe" /* a path that exists, for the manifest */
#define CONFIG 0x2700u
#define TABLE  0x27d0u

#define CODE(rva, bytes) pe_sample_code(&sample, rva, bytes, sizeof(bytes) - 1)

/* push ebp; mov ebp, esp; sub esp, 16; leave; ret */
#define FRAMED "\x55\x8b\xec\x83\xec\x10\xc9\xc3"

static struct pe_sample sample;
static struct pe_image image;
static struct pe_code pe;
static struct patch_plan plan;
static struct failure failure;

static int begin(void **state)
{
    (void)state;
    pe_sample_init_32(&sample);
    pe_sample_header(&sample)->entry = 0x1000;
    return 0;
}

static int end(void **state)
{
    (void)state;
    patch_plan_free(&plan);
    pe_code_free(&pe);
    pe_image_free(&image);
    return 0;
}

static void analyse(void)
{
    assert_true(pe_image_read(&image, "sample", sample.bytes, sample.size, &failure));
    pe_code_read(&pe, &image, &(struct pe_code_options){0});
    plan = (struct patch_plan){.code = &pe.code,
                               .functions = &pe.functions,
                               .map = &pe.map,
                               .base = image.base,
                               .end = image.end};
    patch_decide(&plan);
}

static const struct function *at(uint32_t rva)
{
    return function_list_at(&pe.functions, PE_SAMPLE_BASE_32 + rva);
}

static void assert_reason(uint32_t rva, enum patch_reason reason)
{
    if (!at(rva))
        fail_msg("no function at %#x", rva);
    if (at(rva)->reason != reason)
        fail_msg("%#x: %s, not %s", rva, patch_reason_word(at(rva)->reason),
                 patch_reason_word((uint8_t)reason));
}

static void assert_end(uint32_t rva, uint32_t end_rva)
{
    assert_int_equal(at(rva)->end, PE_SAMPLE_BASE_32 + end_rva);
    assert_true(at(rva)->evidence & EVIDENCE_EXTENT);
}

/* Puts a call at the entry, one behind the other, and what is called. */
static void put_called(uint32_t rva, const void *bytes, size_t size)
{
    static uint32_t next;
    int32_t distance;

    next = memcmp(pe_sample_at(&sample, 0x1000), "\xe8", 1) ? 0x1000 : next;
    distance = (int32_t)(rva - (next + 5));
    CODE(next, "\xe8\0\0\0\0\xc3");
    memcpy(pe_sample_at(&sample, next + 1), &distance, sizeof(distance));
    next += 5;
    pe_sample_code(&sample, rva, bytes, size);
}

#define CALLED(rva, bytes) put_called(rva, bytes, sizeof(bytes) - 1)

static void calls_tell_functions(void **state)
{
    (void)state;
    CALLED(0x1100, "\x31\xc0\x85\xc9\x74\x03\xc2\x08\x00\x40\xc3"); /* a ret 8 before its end */
    analyse();
    assert_reason(0x1000, PATCH_ADJUSTED); /* the call */
    assert_reason(0x1100, PATCH_ADJUSTED); /* the jump */
    assert_end(0x1100, 0x110b);
}

/* cmp eax, 1; ja; jmp [eax * 4 + table]; nop; two cases; table; byte table */
static void tables_in_code_end_a_function(void **state)
{
    static const uint32_t cases[] = {0x40110d, 0x401110};

    (void)state;
    CALLED(0x1100, "\x83\xf8\x01\x77\x0b\xff\x24\x85\x14\x11\x40\x00\x90"
                   "\x31\xc0\xc3\x31\xc0\x40\xc3");
    memcpy(pe_sample_at(&sample, 0x1114), cases, sizeof(cases));
    pe_sample_relocate(&sample, 0x1108);
    pe_sample_relocate(&sample, 0x1114);
    pe_sample_relocate(&sample, 0x1118);
    analyse();
    assert_end(0x1100, 0x1114);
    assert_int_equal(pe.functions.count, 2);
}

/* Code made for size: one behind the other, without padding. Behind a jump that leads nobody knows
 * where there may be a part of the same function. */
static void pointers_tell_functions_behind_others(void **state)
{
    static const uint32_t pointers[] = {0x401107, 0x401103, 0x401203};

    (void)state;
    CALLED(0x1100, "\x31\xc0\xc3");             /* xor eax, eax; ret */
    CODE(0x1103, "\x56\x31\xf6\xc3");           /* push esi; xor esi, esi; ret */
    CODE(0x1107, "\x8b\x44\x24\x04\xc3\xcc");   /* mov eax, [esp + 4]; ret */
    CALLED(0x1200, "\x90\xff\xe1\x31\xc0\xc3"); /* nop; jmp ecx; xor eax, eax; ret */
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE), pointers, sizeof(pointers));
    analyse();
    assert_non_null(at(0x1103));
    assert_end(0x1103, 0x1107);
    assert_non_null(at(0x1107));
    assert_null(at(0x1203));
}

static void pointers_tell_functions_that_look_like_ones(void **state)
{
    static const uint32_t pointers[] = {0x401100, 0x401120, 0x401141, 0x401152};

    (void)state;
    CODE(0x1000, "\xc3");
    CODE(0x1100, FRAMED);                     /* a frame */
    CODE(0x1120, "\x8b\x44\x24\x04\x40\xc3"); /* aligned, behind int3 */
    CODE(0x1141, "\x8b\x44\x24\x04\x40\xc3"); /* neither */
    CODE(0x1150, "\xeb\x10");
    memcpy(pe_sample_at(&sample, PE_SAMPLE_FREE), pointers, sizeof(pointers));
    for (uint32_t i = 0; i < 4; i++)
        pe_sample_relocate(&sample, PE_SAMPLE_FREE + 4 * i);
    analyse();
    assert_reason(0x1100, PATCH_PLAIN);
    assert_reason(0x1120, PATCH_PLAIN);
    assert_null(at(0x1141));
    assert_null(at(0x1152));
}

static void gaps_are_searched_for_frames(void **state)
{
    (void)state;
    CODE(0x1000, "\xc3");
    CODE(0x1103, "\x8b\xff" FRAMED);             /* behind int3 */
    CODE(0x1120, "\x31" FRAMED);                 /* in the middle of something */
    CODE(0x1140, "\x85\xc0\x75\x01\xc3" FRAMED); /* branched to: a part that needs a frame */
    analyse();
    assert_reason(0x1103, PATCH_PLAIN);
    assert_end(0x1103, 0x110d);
    assert_int_equal(pe.functions.count, 2);
}

static void what_flows_into_is_inside(void **state)
{
    (void)state;
    CALLED(0x1100, "\x55\x8b\xec\x83\xec\x10\x31\xc0\xc9\xc3");
    CALLED(0x1106, "\x31\xc0\xc9\xc3");
    analyse();
    assert_reason(0x1106, PATCH_INSIDE_FUNCTION);
}

static void tail_calls_tell_functions_from_parts(void **state)
{
    (void)state;
    CALLED(0x1100, "\x31\xc0\xe9\x19\x00\x00\x00"); /* jmp 0x1120 */
    CODE(0x1120, "\x8b\x44\x24\x04\x40\xc3");
    CALLED(0x1140, "\x53\x31\xdb\xe9\x18\x00\x00\x00"); /* push ebx; jmp 0x1160 */
    CODE(0x1160, "\x8b\x44\x24\x08\x5b\xc3");
    CALLED(0x1110, "\xc3"); /* others in between */
    CALLED(0x1150, "\xc3");
    analyse();
    assert_reason(0x1120, PATCH_PLAIN);
    assert_reason(0x1160, PATCH_FRAGMENT);
}

/* What fills up behind a call that does not return does not flow on. */
static void calls_that_do_not_return_end_functions(void **state)
{
    (void)state;
    CALLED(0x1100, "\x31\xc0\xe8\x39\x00\x00\x00\x90\x90\x90\x90\x90\x90\x90\x90\x90");
    CALLED(0x1110, FRAMED);
    CALLED(0x1140, "\xf4");
    analyse();
    assert_reason(0x1110, PATCH_PLAIN);
    assert_end(0x1100, 0x1107);
}

static void stacks_that_change_are_left_alone(void **state)
{
    (void)state;
    /* _chkstk of Microsoft's: push ecx; lea ecx, [esp + 4]; sub ecx, eax; mov eax, ecx; pop ecx;
       xchg esp, eax; mov eax, [eax]; mov [esp], eax; ret */
    CALLED(0x1100, "\x51\x8d\x4c\x24\x04\x2b\xc8\x8b\xc1\x59\x94\x8b\x00\x89\x04\x24\xc3");
    /* __SEH_prolog4: push handler; push fs:[0]; mov eax, [esp + 16]; mov [esp + 16], ebp;
       lea ebp, [esp + 16]; sub esp, eax; push ebx; push [ebp - 8]; ret */
    CALLED(0x1120, "\x68\0\0\0\0\x64\xff\x35\0\0\0\0\x8b\x44\x24\x10\x89\x6c\x24\x10\x8d\x6c\x24"
                   "\x10\x2b\xe0\x53\xff\x75\xf8\xc3");
    /* __SEH_epilog4: mov ecx, [ebp - 16]; pop ecx; pop edi; mov esp, ebp; pop ebp; push ecx; ret */
    CALLED(0x1150, "\x8b\x4d\xf0\x59\x5f\x8b\xe5\x5d\x51\xc3");
    /* _EH_prolog3: push eax; lea eax, [esp + 8]; mov [eax], ebp; mov ebp, eax; push [ebp - 4]; ret
     */
    CALLED(0x1160, "\x50\x8d\x44\x24\x08\x89\x28\x8b\xe8\xff\x75\xfc\xc3");
    /* setjmp: mov edx, [esp + 4]; mov eax, [esp]; mov [edx], eax; xor eax, eax; ret */
    CALLED(0x1180, "\x8b\x54\x24\x04\x8b\x04\x24\x89\x02\x31\xc0\xc3");
    /* push eax; push ecx; ret: goes on elsewhere */
    CALLED(0x11a0, "\x50\x31\xc0\x31\xc9\x51\xc3");
    analyse();
    for (size_t i = 0; i < 6; i++)
        assert_reason((uint32_t[]){0x1100, 0x1120, 0x1150, 0x1160, 0x1180, 0x11a0}[i],
                      PATCH_RETURN_ADDRESS);
}

static void stacks_that_come_back_are_not(void **state)
{
    (void)state;
    CALLED(0x1100, FRAMED);
    /* push esi; mov esi, ecx; push 1; call [esi]; pop esi; ret 4: who is called takes 1 away */
    CALLED(0x1120, "\x56\x8b\xf1\x6a\x01\xff\x16\x5e\xc2\x04\x00");
    /* push ebp; mov ebp, esp; sub esp, eax; mov eax, [ebp + 8]; mov esp, ebp; pop ebp; ret */
    CALLED(0x1140, "\x55\x8b\xec\x2b\xe0\x8b\x45\x08\x8b\xe5\x5d\xc3");
    /* lea ecx, [esp + 4]; and esp, -16; push [ecx - 4]; mov edx, ecx; push ebp; mov ebp, esp; push
       ecx; mov ecx, [ebp - 4]; leave; lea esp, [ecx - 4]; ret */
    CALLED(0x1160,
           "\x8d\x4c\x24\x04\x83\xe4\xf0\xff\x71\xfc\x89\xca\x55\x89\xe5\x51\x8b\x4d\xfc\xc9\x8d"
           "\x61\xfc\xc3");
    /* test ecx, ecx; je; push ebx; push edi; pop edi; pop ebx; ret; push edi; pop edi; ret */
    CALLED(0x1180, "\x85\xc9\x74\x06\x53\x57\x5f\x5b\xc3\x90\x57\x90\x5f\xc3");
    analyse();
    for (size_t i = 0; i < 5; i++)
        assert_true(patch_reason_is_hooked(
            at((uint32_t[]){0x1100, 0x1120, 0x1140, 0x1160, 0x1180}[i])->reason));
}

static void handlers_are_a_part_of_the_unwinder(void **state)
{
    struct pe_load_config_32 config = {
        .size = sizeof(config), .handlers = PE_SAMPLE_BASE_32 + TABLE, .handler_count = 1};
    uint32_t handler = 0x1100;

    (void)state;
    CODE(0x1000, "\xc3");
    CODE(0x1100, "\xb8\0\0\0\0\xe9\x16\0\0\0"); /* mov eax, …; jmp 0x1120 */
    CALLED(0x1120, FRAMED);
    memcpy(pe_sample_at(&sample, CONFIG), &config, sizeof(config));
    memcpy(pe_sample_at(&sample, TABLE), &handler, sizeof(handler));
    *pe_sample_directory(&sample, PE_LOAD_CONFIG) = (struct pe_directory){CONFIG, 64};
    analyse();
    assert_reason(0x1100, PATCH_UNWINDER);
    assert_reason(0x1120, PATCH_UNWINDER);
}

static void thunks_of_imports_are_left_alone(void **state)
{
    (void)state;
    CALLED(0x1100, "\xff\x25\x80\x24\x40\x00");
    analyse();
    assert_reason(0x1100, PATCH_PLT);
}

/* ---- written */

static uint8_t *written;
static size_t written_size;

static void contents(int descriptor, uint8_t **bytes, size_t *size)
{
    *size = (size_t)lseek(descriptor, 0, SEEK_END);
    *bytes = malloc(*size);
    assert_non_null(*bytes);
    assert_int_equal(pread(descriptor, *bytes, *size, 0), *size);
    close(descriptor);
}

static void rewrite(void)
{
    static const struct rewrite_options options;
    static const struct agent agent = {.needed = "hooks32.dll"};
    struct output_file output = {.path = "output", .descriptor = memfd_create("output", 0)};
    struct judge_expectation expected;
    struct rewrite_result result;
    uint8_t *copy = malloc(sample.size);
    struct input_file input = {.path = ITSELF, .bytes = copy, .size = sample.size};
    struct image opened;

    memcpy(copy, sample.bytes, sample.size);
    if (!image_open(&opened, &input, &failure) ||
        !rewrite_image(&opened, &options, &agent, &output, &result, &expected, &failure))
        fail_msg("%s", failure.text);
    image_close(&opened);
    free(copy);
    contents(output.descriptor, &written, &written_size);
    assert_true(pe_image_read(&image, "written", written, written_size, &failure));
    pe_code_read(&pe, &image, &(struct pe_code_options){0});
}

static void undo(void)
{
    struct output_file output = {.path = "undone", .descriptor = memfd_create("undone", 0)};
    struct input_file input = {.path = "written", .bytes = written, .size = written_size};
    uint8_t *copy = malloc(written_size), *undone;
    struct verify_result result;
    size_t size;

    memcpy(copy, written, written_size);
    if (!verify_image(&input, &result, &failure))
        fail_msg("%s", failure.text);
    memcpy(written, copy, written_size);
    assert_true(undo_image(&input, &output, &failure));
    contents(output.descriptor, &undone, &size);
    assert_int_equal(size, sample.size);
    assert_memory_equal(undone, sample.bytes, size);
    free(undone);
    free(copy);
    free(written);
}

static size_t relocations_between(uint32_t from, uint32_t to, uint32_t *last)
{
    size_t count = 0;

    for (size_t i = 0; i < pe.relocated_count; i++)
        if (pe.relocated[i] >= from && pe.relocated[i] < to) {
            *last = pe.relocated[i];
            count++;
        }
    return count;
}

static void relocations_move_with_their_instructions(void **state)
{
    uint32_t last = 0, word;

    (void)state;
    CALLED(0x1100, "\xa1\x34\x27\x40\x00\x40\xc3");     /* mov eax, [0x402734] */
    CALLED(0x1120, "\xff\x15\x80\x24\x40\x00\x40\xc3"); /* call [slot] */
    CALLED(0x1140, "\x31\xc0\x31\xc0\x90\xa1\x34\x27\x40\x00\xc3");
    pe_sample_relocate(&sample, 0x1101);
    pe_sample_relocate(&sample, 0x1122);
    pe_sample_relocate(&sample, 0x1146);
    rewrite();
    assert_int_equal(relocations_between(0x1000, 0x2000, &last), 1); /* behind the patch */
    assert_int_equal(last, 0x1146);
    assert_int_equal(relocations_between(0x3000, 0x4000, &last), 2);
    memcpy(&word, pe_at_rva(&image, last, sizeof(word)), sizeof(word));
    assert_int_equal(word, 0x402480);
    assert_memory_equal(pe_at_rva(&image, last - 2, 2), "\xff\x25", 2); /* the call, as a jump */
    undo();
}

static void relocations_of_nothing_else_move(void **state)
{
    (void)state;
    CALLED(0x1100, "\xa1\x34\x27\x40\x00\x40\xc3");
    pe_sample_relocate(&sample, 0x1100); /* the opcode */
    CALLED(0x1120, "\xe8\x1b\x00\x00\x00\x40\xc3");
    pe_sample_relocate(&sample, 0x1121); /* a distance */
    CODE(0x1140, "\xc3");
    analyse();
    assert_false(at(0x1100) && patch_reason_is_hooked(at(0x1100)->reason));
    assert_reason(0x1120, PATCH_UNMOVABLE);
}

static void agent_is_imported_first(void **state)
{
    struct pe_import import;
    uint32_t lookup[2];

    (void)state;
    CODE(0x1000, FRAMED);
    rewrite();
    memcpy(&import, pe_directory_table(&image, PE_IMPORTS, 1).bytes, sizeof(import));
    assert_string_equal(pe_string(&image, import.name), "hooks32.dll");
    memcpy(lookup, pe_at_rva(&image, import.lookup, sizeof(lookup)), sizeof(lookup));
    assert_string_equal(pe_string(&image, lookup[0] + 2), "umbra_enter_13");
    assert_int_equal(lookup[1], 0);
    assert_int_equal(image.directory[PE_EXCEPTIONS].size, 0);
    undo();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_tell_functions),
        TEST(tables_in_code_end_a_function),
        TEST(pointers_tell_functions_behind_others),
        TEST(pointers_tell_functions_that_look_like_ones),
        TEST(gaps_are_searched_for_frames),
        TEST(what_flows_into_is_inside),
        TEST(tail_calls_tell_functions_from_parts),
        TEST(calls_that_do_not_return_end_functions),
        TEST(stacks_that_change_are_left_alone),
        TEST(stacks_that_come_back_are_not),
        TEST(handlers_are_a_part_of_the_unwinder),
        TEST(thunks_of_imports_are_left_alone),
        TEST(relocations_move_with_their_instructions),
        TEST(relocations_of_nothing_else_move),
        TEST(agent_is_imported_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
