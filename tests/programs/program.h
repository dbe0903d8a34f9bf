/*
 * What the test programs share. Call counts are part of what the tests compare, so no compiler
 * may inline, clone or fold the functions whose calls are counted.
 */
#ifndef UMBRA_TEST_PROGRAM_H
#define UMBRA_TEST_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>

#ifdef __clang__
#define COUNTED __attribute__((noinline))
#else
#define COUNTED __attribute__((noipa))
#endif

/* The compiler knows nothing of x any longer: no tail call, no folding of two calls into one. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

/* Ends the program with a status no program returns otherwise. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            exit(99);                                                                              \
        }                                                                                          \
    } while (0)

/* Calls of fib(n) in all: 2 * fib(n + 1) - 1, with fib(1) = fib(2) = 1. */
static COUNTED __attribute__((unused)) long fib(long n)
{
    if (n < 2)
        return n;
    long left = fib(n - 1);
    long right = fib(n - 2);
    OPAQUE(left);
    OPAQUE(right);
    return left + right;
}

#endif
