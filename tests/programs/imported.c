/* The library whose functions imports.c imports; never instrumented. */
#include "imports.h"

#include <stdarg.h>

struct large large_make(int first)
{
    struct large large;

    for (int i = 0; i < LARGE_COUNT; i++)
        large.numbers[i] = first + i;
    return large;
}

double sum_of(int count, ...)
{
    double sum = 0;
    va_list numbers;

    va_start(numbers, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(numbers, double);
    va_end(numbers);
    return sum;
}

int call_back(int (*function)(int), int depth)
{
    return function(depth);
}
