#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "rewriter/functions/name_rules.h"

#include <cmocka.h>

static const char *const returns_twice[] = {"setjmp", "vfork", NULL};
static const char *const callers_frame[] = {"_mcount", NULL};
static const char *const unwinder_prefixes[] = {"_Unwind_", "__gxx_personality", NULL};
static const struct name_rules rules = {returns_twice, callers_frame, unwinder_prefixes};

static void check(const char *name, enum patch_reason reason)
{
    if (name_reason(&rules, name) != reason)
        fail_msg("%s: %s, should be %s", name,
                 patch_reason_word((uint8_t)name_reason(&rules, name)),
                 patch_reason_word((uint8_t)reason));
}

static void test_whole_names(void **state)
{
    (void)state;
    check("setjmp", PATCH_RETURNS_TWICE);
    check("vfork", PATCH_RETURNS_TWICE);
    check("_mcount", PATCH_RETURN_ADDRESS);
    check("_setjmp", PATCH_UNDECIDED);
    check("setjmp2", PATCH_UNDECIDED);
    check("set", PATCH_UNDECIDED);
    check("", PATCH_UNDECIDED);
}

static void test_beginnings_of_names(void **state)
{
    (void)state;
    check("_Unwind_Resume", PATCH_UNWINDER);
    check("_Unwind_", PATCH_UNWINDER);
    check("__gxx_personality_v0", PATCH_UNWINDER);
    check("_Unwind", PATCH_UNDECIDED);
    check("my_Unwind_Resume", PATCH_UNDECIDED);
}

static void test_parts_that_the_compiler_split_off(void **state)
{
    (void)state;
    check("parse.cold", PATCH_FRAGMENT);
    check("parse.cold.1", PATCH_FRAGMENT);
    check("parse.part.0.cold", PATCH_FRAGMENT);
    check("setjmp.cold", PATCH_FRAGMENT);
    check("parse.colder", PATCH_UNDECIDED);
    check("parse.colder.cold", PATCH_FRAGMENT);
    check("parse_cold", PATCH_UNDECIDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_names),
        cmocka_unit_test(test_beginnings_of_names),
        cmocka_unit_test(test_parts_that_the_compiler_split_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
