#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "service/sampling/call_site.h"

#include <cmocka.h>

/* The bytes, behind ones that are part of no call. */
static bool ends_with(const char *bytes, size_t size)
{
    unsigned char code[CALL_SITE_BYTES];

    memset(code, 0x90, sizeof(code));
    memcpy(code + sizeof(code) - size, bytes, size);
    return call_site_is_at_end(code);
}

#define ENDS_WITH(bytes) ends_with(bytes, sizeof(bytes) - 1)

static void calls_are_known(void **state)
{
    (void)state;
    assert_true(ENDS_WITH("\xe8\x11\x22\x33\x44"));         /* call rel32 */
    assert_true(ENDS_WITH("\xff\xd0"));                     /* call rax */
    assert_true(ENDS_WITH("\x41\xff\xd4"));                 /* call r12 */
    assert_true(ENDS_WITH("\xff\x13"));                     /* call [rbx] */
    assert_true(ENDS_WITH("\xff\x55\x08"));                 /* call [rbp + 8] */
    assert_true(ENDS_WITH("\x41\xff\x14\x24"));             /* call [r12] */
    assert_true(ENDS_WITH("\xff\x54\x24\x08"));             /* call [rsp + 8] */
    assert_true(ENDS_WITH("\xff\x15\x11\x22\x33\x44"));     /* call [rip + disp32] */
    assert_true(ENDS_WITH("\xff\x90\x11\x22\x33\x44"));     /* call [rax + disp32] */
    assert_true(ENDS_WITH("\xff\x14\xc5\x11\x22\x33\x44")); /* call [8 rax + disp32] */
    assert_true(ENDS_WITH("\xff\x94\x24\x11\x22\x33\x44")); /* call [rsp + disp32] */
}

static void other_code_is_none(void **state)
{
    (void)state;
    assert_false(ENDS_WITH("\x90"));
    assert_false(ENDS_WITH("\xc3"));
    assert_false(ENDS_WITH("\xe9\x11\x22\x33\x44"));         /* jmp rel32 */
    assert_false(ENDS_WITH("\xff\xe0"));                     /* jmp rax */
    assert_false(ENDS_WITH("\xff\x25\x11\x22\x33\x44"));     /* jmp [rip + disp32] */
    assert_false(ENDS_WITH("\xff\x75\x08"));                 /* push [rbp + 8] */
    assert_false(ENDS_WITH("\xff\x14"));                     /* its SIB byte is not there */
    assert_false(ENDS_WITH("\xff\x15\x11"));                 /* nor all of its operand */
    assert_false(ENDS_WITH("\xe8\x11\x22\x33"));             /* nor all of its operand */
    assert_false(ENDS_WITH("\x66\x0f\x1f\x84\x00\x00\x00")); /* nop, as between functions */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_known),
        cmocka_unit_test(other_code_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
