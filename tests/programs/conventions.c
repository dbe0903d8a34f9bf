/*
 * Every kind of argument and result the calling convention knows: many integers, floating point,
 * long double, structures by value and by hidden pointer, varargs, complex numbers, vectors;
 * alloca, variable-length arrays, large frames, callbacks from libc, and functions without a
 * frame. Prints what they computed; any register a hook drops shows.
 */
#include "program.h"

#include <alloca.h>
#include <complex.h>
#include <immintrin.h>
#include <stdarg.h>
#include <string.h>

struct small {
    long a, b;
};
struct mixed {
    double a;
    long b;
};
struct large {
    long words[9];
};

COUNTED long ten_integers(long a, long b, long c, long d, long e, long f, long g, long h, long i,
                          long j)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

COUNTED double ten_doubles(double a, double b, double c, double d, double e, double f, double g,
                           double h, double i, double j)
{
    return a - b + c - d + e - f + g - h + i * j;
}

COUNTED long double long_double(long double a, long double b)
{
    return a * b + 1;
}

COUNTED struct small small_result(long a)
{
    return (struct small){a, a * a};
}

COUNTED struct mixed mixed_result(struct mixed given)
{
    return (struct mixed){given.a * 2, given.b + 1};
}

COUNTED struct large large_result(struct large given, long add)
{
    for (int i = 0; i < 9; i++)
        given.words[i] += add * i;
    return given;
}

COUNTED double complex complex_result(double complex a, double complex b)
{
    return a * b;
}

COUNTED long varargs(const char *kinds, ...)
{
    va_list list;
    double sum = 0;
    va_start(list, kinds);
    for (; *kinds; kinds++)
        sum += *kinds == 'd' ? va_arg(list, double) : va_arg(list, int);
    va_end(list);
    return (long)sum;
}

COUNTED __attribute__((target("avx"))) __m256d vector(__m256d a, __m256d b)
{
    return _mm256_add_pd(a, b);
}

COUNTED __attribute__((target("avx"))) double vector_sum(void)
{
    double out[4];
    _mm256_storeu_pd(out, vector(_mm256_set_pd(1, 2, 3, 4), _mm256_set_pd(10, 20, 30, 40)));
    return out[0] + 2 * out[1] + 3 * out[2] + 4 * out[3];
}

COUNTED long on_the_stack(long n)
{
    char *block = alloca(n * 16);
    long array[n];
    memset(block, 1, n * 16);
    for (long i = 0; i < n; i++)
        array[i] = block[i] + (i ? array[i - 1] : 0);
    return array[n - 1];
}

COUNTED long large_frame(long n)
{
    volatile char frame[100000];
    for (long i = 0; i < 100000; i += 1000)
        frame[i] = (char)n;
    return frame[99000] + frame[0];
}

static long comparisons;

COUNTED int compare(const void *left, const void *right)
{
    comparisons++;
    long a = *(const long *)left, b = *(const long *)right;
    return (a > b) - (a < b);
}

COUNTED long sorted(void)
{
    long numbers[1000], key = 500;
    for (long i = 0; i < 1000; i++)
        numbers[i] = i * 7919 % 1000;
    qsort(numbers, 1000, sizeof(long), compare);
    long *found = bsearch(&key, numbers, 1000, sizeof(long), compare);
    return found ? *found : -1;
}

int main(void)
{
    struct large large = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
    for (long round = 0; round < 3; round++) {
        struct small small = small_result(round + 5);
        struct mixed mixed = mixed_result((struct mixed){1.5, round});
        double complex product = complex_result(1 + 2 * I, 3 - round * I);
        large = large_result(large, round);
        printf("%ld %g\n", ten_integers(round, 2, 3, 4, 5, 6, 7, 8, 9, 10),
               ten_doubles(round, 2, 3, 4, 5, 6, 7, 8, 9, 10));
        printf("%Lg %ld %ld %g %ld\n", long_double(round, 2.5), small.a, small.b, mixed.a, mixed.b);
        printf("%ld %g %g\n", large.words[8], creal(product), cimag(product));
        printf("%ld %ld\n", varargs("ididd", 1, 2.5, (int)round, 4.25, 1.0), varargs("i", 9));
        printf("%ld %ld %ld\n", on_the_stack(100), large_frame(round), sorted());
        if (__builtin_cpu_supports("avx"))
            printf("%g\n", vector_sum());
    }
    printf("%ld comparisons\n", comparisons);
    return 0;
}
