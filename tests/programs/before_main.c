/*
 * Functions that run before main, some before any constructor of any library: an IFUNC resolver
 * (while relocations are being applied), an early constructor, a preinit function.
 */
#include "program.h"

static long early;

COUNTED static long answer_plain(long n)
{
    return n + 1;
}

COUNTED static long answer_other(long n)
{
    return n + 2;
}

/* Called by the dynamic linker: calls nothing outside, uses no thread-local data. */
COUNTED __attribute__((used)) static long (*resolve_answer(void))(long)
{
    int other = 0;
    OPAQUE(other);
    return other ? answer_other : answer_plain;
}

long answer(long n) __attribute__((ifunc("resolve_answer")));

COUNTED static void at_preinit(int argc, char **argv, char **environment)
{
    (void)argc, (void)argv, (void)environment;
    early += fib(5);
}

__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char **,
                                                                        char **) = at_preinit;

__attribute__((constructor(101))) COUNTED static void construct_early(void)
{
    early += 100 * fib(10);
}

__attribute__((constructor)) COUNTED static void construct(void)
{
    early += answer(1000);
}

__attribute__((destructor)) COUNTED static void destruct(void)
{
    printf("destructor: %ld\n", fib(7));
}

int main(void)
{
    printf("before main: %ld\n", early);
    printf("answer: %ld\n", answer(41));
    return 0;
}
