/* What stands in front of calls, instruction by instruction, as frame_code.h draws it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rewriter/code/decode.h"
#include "rewriter/copy/site_machine.h"

#include <cmocka.h>

/* Addresses that are known, in place of figures. */
static void name_address(char *text, size_t room, const struct scene *scene)
{
    const struct {
        uint64_t address;
        const char *name;
    } names[] = {
        {WORD(frames), "frames"},   {WORD(words), "words"},
        {WORD(on_site), "on_site"}, {scene->back, "back"},
        {scene->call, "call"},      {body_of(scene, scene->copied.functions.count > 1), "copy"}};
    char *figures = strstr(text, "0x0000000020");
    uint64_t address = figures ? strtoull(figures, NULL, 16) : 0;

    for (size_t i = 0; figures && i < sizeof(names) / sizeof(*names); i++)
        if (names[i].address == address) {
            snprintf(figures, room - (size_t)(figures - text), "%s%s", names[i].name,
                     strchr(text, '[') ? "]" : "");
            return;
        }
    if (figures)
        snprintf(figures, room - (size_t)(figures - text), "slow");
}

static uint64_t put_line(char *line, size_t room, const struct scene *scene, uint64_t at)
{
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecodedInstruction instruction;
    ZydisFormatter formatter;
    ZydisDecoder decoder;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    assert_true(
        ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (void *)at, 15, &instruction, operands)));
    ZydisFormatterFormatInstruction(&formatter, &instruction, operands,
                                    instruction.operand_count_visible, line, room, at, NULL);
    name_address(line, room, scene);
    return at + instruction.length;
}

/* What stands from an address on is this. */
static void assert_text(const struct scene *scene, uint64_t at, const char *const *lines)
{
    for (; *lines; lines++) {
        char line[128];

        at = put_line(line, sizeof(line), scene, at);
        assert_string_equal(line, *lines);
    }
}

/* Prints it, if SHOW is set in the environment, as these tests have it. */
static void show(const struct scene *scene, uint64_t at, uint64_t end)
{
    while (getenv("SHOW") && at < end) {
        char line[128];

        at = put_line(line, sizeof(line), scene, at);
        printf("        \"%s\",\n", line);
    }
}

static void test_the_text_of_a_call(void **state)
{
    static const char *const lines[] = {
        "mov [rsp-0x18], r11",
        "mov [rsp-0x20], r10",
        "mov r10, [frames]",
        "test r10, r10",
        "jz back",
        "mov r11, rsp",
        "sub r11, fs:[r10]",
        "cmp r11, fs:[r10+0x08]",
        "jnb slow",
        "add r11, fs:[r10+0x10]",
        "mov r10, [r11+0x18]",
        "test r10, r10",
        "jz slow",
        "cmp dword ptr [r10], 0x1685C",
        "jnz slow",
        "inc [r10+0x28]",
        "jns slow",
        "mov r10, [r10+0x20]",
        "mov [r11-0x08], r10",
        "mov r10, [rsp-0x20]",
        "mov r11, [rsp-0x18]",
        "call copy",
        NULL,
    };
    struct scene scene;

    (void)state;
    begin_call(&scene, 0);
    show(&scene, scene.site, scene.call + 5);
    assert_text(&scene, scene.site, lines);
    copied_end(&scene.copied);
}

static void test_the_text_of_a_call_of_a_leaf(void **state)
{
    static const char *const lines[] = {
        "mov rcx, [frames]",
        "test rcx, rcx",
        "jz back",
        "mov r8, rsp",
        "sub r8, fs:[rcx]",
        "cmp r8, fs:[rcx+0x08]",
        "jnb slow",
        "add r8, fs:[rcx+0x10]",
        "mov rcx, [r8+0x18]",
        "test rcx, rcx",
        "jz slow",
        "cmp dword ptr [rcx], 0x1685C",
        "jnz slow",
        "inc [rcx+0x28]",
        "jns slow",
        "call copy",
        NULL,
    };
    struct scene scene;

    (void)state;
    begin_scene(&scene);
    ADD(&scene.copied, 0, CALLER_OF_40);
    ADD(&scene.copied, 0x40, LEAF);
    copied_plan(&scene.copied);
    set_dead(&scene, 4, 1u << RCX | 1u << R8);
    place_scene(&scene, 4);
    show(&scene, scene.site, scene.call + 5);
    assert_text(&scene, scene.site, lines);
    copied_end(&scene.copied);
}

static void test_the_text_of_a_jump(void **state)
{
    static const char *const lines[] = {
        "mov [rsp-0x18], r11",
        "mov [rsp-0x20], r10",
        "mov r10, [frames]",
        "test r10, r10",
        "jz back",
        "mov r11, rsp",
        "sub r11, fs:[r10]",
        "cmp r11, fs:[r10+0x08]",
        "jnb slow",
        "add r11, fs:[r10+0x10]",
        "mov r10, [r11]",
        "test r10, r10",
        "jz slow",
        "cmp dword ptr [r10], 0x1685C",
        "jnz slow",
        "inc [r10+0x38]",
        "jns slow",
        "mov r10, [r10+0x30]",
        "mov [r11], r10",
        "mov r10, [rsp-0x20]",
        "mov r11, [rsp-0x18]",
        "jmp copy",
        NULL,
    };
    struct scene scene;

    (void)state;
    begin_jump(&scene, 8);
    show(&scene, scene.site, scene.call + 5);
    assert_text(&scene, scene.site, lines);
    copied_end(&scene.copied);
}

static void test_the_text_of_a_call_by_a_pointer(void **state)
{
    static const char *const lines[] = {
        "mov r11, rax",
        "mov [rsp-0x18], r10",
        "mov [rsp-0x20], r9",
        "mov r9, [frames]",
        "test r9, r9",
        "jz back",
        "mov r10, rsp",
        "sub r10, fs:[r9]",
        "cmp r10, fs:[r9+0x08]",
        "jnb slow",
        "add r10, fs:[r9+0x10]",
        "mov r9, [r10+0x18]",
        "test r9, r9",
        "jz slow",
        "cmp dword ptr [r9], 0x1685C",
        "jnz slow",
        "cmp r11, [r9+0x60]",
        "jnz slow",
        "inc [r9+0x78]",
        "jns slow",
        "mov r11, [r9+0x70]",
        "mov [r10-0x08], r11",
        "mov r11, [r9+0x90]",
        "mov r9, [words]",
        "mov fs:[r9+0x18], rsp",
        "mov r9, [rsp-0x20]",
        "mov r10, [rsp-0x18]",
        "call r11",
        NULL,
    };
    struct scene scene;

    (void)state;
    begin_pointer(&scene, 1u << R11);
    show(&scene, scene.site, scene.call + 3);
    assert_text(&scene, scene.site, lines);
    copied_end(&scene.copied);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_text_of_a_call),
        cmocka_unit_test(test_the_text_of_a_call_of_a_leaf),
        cmocka_unit_test(test_the_text_of_a_jump),
        cmocka_unit_test(test_the_text_of_a_call_by_a_pointer),
    };

    return cmocka_run_group_tests_name("frame_code_text", tests, site_machine_prepare, NULL);
}
