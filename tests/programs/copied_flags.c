/* Asks hand-written functions whether numbers are odd; each goes by flags in a way of its own. */
#include <stdio.h>

#define WAYS(way)                                                                                  \
    way(ask) way(ask_bare) way(ask_by_jump) way(ask_by_condition) way(ask_by_call)                 \
        way(ask_by_pointer) way(ask_by_pointer_bare) way(ask_library) way(ask_library_by_slot)     \
            way(ask_by_own_name) way(ask_by_own_slot) way(ask_across) way(ask_by_argument)         \
                way(ask_by_argument_in_call) way(ask_by_jump_with_flags)                           \
                    way(ask_by_condition_with_flags)

#define DECLARE(name) int name(int n);
#define LIST(name)    {#name, name},

WAYS(DECLARE)

int main(void)
{
    static const struct way {
        const char *name;
        int (*ask)(int n);
    } ways[] = {WAYS(LIST)};
    int wrong = 0;

    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        int odd = 0;

        for (int n = 0; n < 10; n++)
            odd += ways[i].ask(n) == (n & 1);
        printf("%s: %d of 10 are right\n", ways[i].name, odd);
        wrong += odd != 10;
    }
    return wrong;
}
