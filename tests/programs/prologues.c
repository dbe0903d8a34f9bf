/* Calls the functions of prologues_amd64.S with small numbers and prints what they return. */
#include "program.h"

#include <string.h>

#define FUNCTIONS(X)                                                                               \
    X(helper)                                                                                      \
    X(rip_relative_load)                                                                           \
    X(rip_relative_address)                                                                        \
    X(rip_relative_compare)                                                                        \
    X(call_first)                                                                                  \
    X(call_indirect_first)                                                                         \
    X(jump_first)                                                                                  \
    X(jump_indirect_first)                                                                         \
    X(jump_short_first)                                                                            \
    X(branch_short)                                                                                \
    X(branch_long)                                                                                 \
    X(jrcxz_early)                                                                                 \
    X(loop_early)                                                                                  \
    X(endbr_first)                                                                                 \
    X(endbr_then_return)                                                                           \
    X(return_padded)                                                                               \
    X(return_tight)                                                                                \
    X(after_return_tight)                                                                          \
    X(loop_to_entry)                                                                               \
    X(branch_into_start)                                                                           \
    X(calls_reader)                                                                                \
    X(push_first)

#define DECLARE(name) int name(int);
FUNCTIONS(DECLARE)

/* Functions that leave eax alone return what the caller had there, so it gets a known value. */
static int call_with(int (*function)(int), int number)
{
    int result = 4242;
    __asm__ volatile("call *%[function]"
                     : "+a"(result), "+D"(number)
                     : [function] "r"(function)
                     : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc", "memory");
    return result;
}

static const struct {
    const char *name;
    int (*function)(int);
} functions[] = {
#define ENTRY(name) {#name, name},
    FUNCTIONS(ENTRY)};

int main(void)
{
    for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        printf("%s:", functions[i].name);
        for (int number = 0; number < 10; number++)
            printf(" %d", call_with(functions[i].function, number));
        printf("\n");
    }
    return 0;
}
