/* Expected: what llvm-undname prints, less types and parameters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/symbols/undecorate.h"

#include <cmocka.h>

static void expect(const char *symbol, const char *name)
{
    char *found = undecorate(symbol);

    if (name)
        assert_string_equal(found, name);
    else
        assert_null(found);
    free(found);
}

static void plain_names_lose_their_types(void **state)
{
    (void)state;
    expect("?f@@YAXXZ", "f");
    expect("?f@inner@outer@@YAHH@Z", "outer::inner::f");
    expect("?method@inner@outer@@QEAAHH@Z", "outer::inner::method");
    expect("?a@a@@YAXXZ", "a::a");
    expect("?f@g@1@YAXXZ", "g::g::f"); /* 0 is f, 1 is g */
    expect("?f@0@YAXXZ", "f::f");
}

static void special_members_have_names(void **state)
{
    (void)state;
    expect("??0inner@outer@@QEAA@H@Z", "outer::inner::inner");
    expect("??1inner@outer@@QEAA@XZ", "outer::inner::~inner");
    expect("??Hinner@outer@@QEAAHH@Z", "outer::inner::operator+");
    expect("??2@YAPEAX_K@Z", "operator new");
    expect("??_V@YAXPEAX@Z", "operator delete[]");
    expect("??_Ginner@outer@@UEAAPEAXI@Z", "outer::inner::`scalar deleting dtor'");
}

static void what_is_beyond_stays_decorated(void **state)
{
    (void)state;
    expect("??$twice@H@@YAHH@Z", NULL);
    expect("?f@?A0x12345678@@YAXXZ", NULL);
    expect("?f@?1??g@@YAXXZ@4HA", NULL);
    expect("?f@?$t@H@@YAXXZ", NULL);
    expect("main", NULL);
    expect("??0@QEAA@XZ", NULL);
    expect("?", NULL);
    expect("??", NULL);
    expect("??_", NULL);
    expect("?@@", NULL);
    expect("?f", NULL);
    expect("?f@", NULL);
    expect("?f@9@@", NULL);
}

static void many_scopes_are_refused(void **state)
{
    char symbol[8192];

    (void)state;
    strcpy(symbol, "?f@");
    for (int i = 0; i < 100; i++)
        strcat(symbol, "s@");
    strcat(symbol, "@YAXXZ");
    expect(symbol, NULL);
    memset(symbol + 1, 'x', 8000);
    strcpy(symbol + 8001, "@@YAXXZ");
    expect(symbol, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_names_lose_their_types),
        cmocka_unit_test(special_members_have_names),
        cmocka_unit_test(what_is_beyond_stays_decorated),
        cmocka_unit_test(many_scopes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
