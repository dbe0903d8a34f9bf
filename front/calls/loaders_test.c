#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "front/calls/loaders.h"

#include <cmocka.h>

#define PID   1000
#define OTHER (PID + 256) /* has the same place */

static const struct tracee_linker linker = {0x7f0000001000, 0x7f0000002000};

static void a_linker_has_the_instructions_of_its_part(void **state)
{
    struct loaders *loaders = loaders_new();

    (void)state;
    assert_false(loaders_have(loaders, PID, linker.begin));
    loaders_add(loaders, PID, &linker);
    assert_true(loaders_have(loaders, PID, linker.begin));
    assert_true(loaders_have(loaders, PID, linker.end - 1));
    assert_false(loaders_have(loaders, PID, linker.begin - 1));
    assert_false(loaders_have(loaders, PID, linker.end));
    assert_false(loaders_have(loaders, PID + 1, linker.begin));
    free(loaders);
}

static void nobody_has_the_linker_of_another(void **state)
{
    struct loaders *loaders = loaders_new();
    const struct tracee_linker elsewhere = {0x1000, 0x2000};

    (void)state;
    loaders_add(loaders, PID, &linker);
    assert_false(loaders_have(loaders, OTHER, linker.begin));
    loaders_add(loaders, OTHER, &elsewhere);
    assert_true(loaders_have(loaders, OTHER, 0x1000));
    assert_false(loaders_have(loaders, PID, linker.begin));
    free(loaders);
}

static void what_executes_something_has_none(void **state)
{
    struct loaders *loaders = loaders_new();

    (void)state;
    loaders_add(loaders, PID, &linker);
    loaders_forget(loaders, PID);
    assert_false(loaders_have(loaders, PID, linker.begin));
    free(loaders);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linker_has_the_instructions_of_its_part),
        cmocka_unit_test(nobody_has_the_linker_of_another),
        cmocka_unit_test(what_executes_something_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
