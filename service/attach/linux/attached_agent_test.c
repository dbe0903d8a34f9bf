#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "service/attach/linux/attached_agent.h"

#include <cmocka.h>

static void test_no_segment_begins_where_libgcc_sees_none(void **state)
{
    const struct attached_agent agent = {
        .loads = {{.p_vaddr = 0}, {.p_vaddr = 0xa000}, {.p_vaddr = 0x79000}}, .load_count = 3};

    (void)state;
    assert_int_equal(attached_agent_place(&agent, 0x7fc2fff87000), 0x7fc2fff88000);
    assert_int_equal(attached_agent_place(&agent, 0x7fc2ffff6000), 0x7fc2ffff7000);
    assert_int_equal(attached_agent_place(&agent, 0x7fc300000000), 0x7fc300001000);
    assert_int_equal(attached_agent_place(&agent, 0x7fc2fff86000), 0x7fc2fff86000);
    assert_int_equal(attached_agent_place(&agent, 0x7fc2fff88000), 0x7fc2fff88000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_segment_begins_where_libgcc_sees_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
