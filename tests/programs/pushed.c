/*
 * Calls whose caller has more on its stack than its frame: pushed arguments, also while the next
 * ones are being computed by calls; structs by value; alloca and arrays of any length; frames that
 * are aligned to 64 bytes; results in memory; any number of arguments.
 */
#include "program.h"

#include <alloca.h>
#include <stdarg.h>
#include <string.h>

#define CALLED __attribute__((noinline))

struct large {
    long items[9];
};

struct mixed {
    double a;
    long b;
    char c[3];
};

static long sum;

CALLED static long note(long n)
{
    sum = sum * 3 + n;
    return sum & 31;
}

CALLED static long ten(long a, long b, long c, long d, long e, long f, long g, long h, long i,
                       long j)
{
    return note(a - b + c - d + e - f) + note(g * h) - note(i * j);
}

CALLED static long seven(long a, long b, long c, long d, long e, long f, long g)
{
    return note(a + g) + note(b * c - d * e) + f;
}

CALLED static struct large make(long from)
{
    struct large large;

    for (int i = 0; i < 9; i++)
        large.items[i] = note(from + i);
    return large;
}

CALLED static long take(struct large large, long a, struct mixed mixed, double b)
{
    return note(large.items[3] + a + (long)mixed.a + mixed.b + mixed.c[1] + (long)b);
}

CALLED static long some(int count, ...)
{
    va_list list;
    long all = 0;

    va_start(list, count);
    for (int i = 0; i < count; i++)
        all += i & 1 ? (long)va_arg(list, double) : va_arg(list, long);
    va_end(list);
    return note(all);
}

/* Arguments of arguments. */
CALLED static long mix(long n)
{
    struct mixed mixed = {(double)n, n + 1, {1, 2, 3}};

    return ten(n, seven(1, 2, 3, note(n), 5, 6, note(7)), note(2),
               take(make(n), seven(n, 2, 3, 4, 5, 6, 7), mixed, 2.5), 5, note(6),
               ten(1, 2, 3, 4, 5, 6, 7, 8, note(9), n), 8,
               some(9, 1L, 2.0, note(3), 4.0, 5L, 6.0, seven(7, 6, 5, 4, 3, 2, 1), 8.0, 9L),
               note(10));
}

CALLED static long any_length(long n)
{
    char *bytes = alloca((size_t)n * 7 + 1);
    long words[n % 5 + 1];

    memset(bytes, (int)n, (size_t)n * 7 + 1);
    memset(words, 0, sizeof words);
    words[n % 5] = note(bytes[n * 3]);
    for (long i = 0; i < n % 4; i++) {
        char *more = alloca((size_t)(16 + note(i)));

        more[0] = (char)note(i);
        words[0] += seven(more[0], i, 3, 4, 5, 6, note(i));
    }
    OPAQUE(bytes);
    return words[0] + words[n % 5] + (n ? any_length(n - 1) : 0);
}

CALLED static long aligned(long depth)
{
    _Alignas(64) long words[8] = {depth};
    long *at = words;

    OPAQUE(at);
    REQUIRE((unsigned long)at % 64 == 0);
    if (depth)
        at[1] = aligned(depth - 1);
    return at[1] + ten(at[0], 2, 3, 4, 5, 6, 7, 8, note(9), note(at[1]));
}

CALLED static long aligned_of_any_length(long n)
{
    _Alignas(32) char room[32];
    char *more = alloca((size_t)n + 1), *at = room;

    OPAQUE(at);
    OPAQUE(more);
    at[1] = more[n] = (char)note(n);
    return at[1] + more[n] + (n ? aligned_of_any_length(n - 1) : mix(n));
}

CALLED static double floating(double a, float b, long double c, long n)
{
    if (n == 0)
        return a + b + (double)c;
    return floating(b, (float)a, c * 2, n - 1) + (double)note(n);
}

/* Registers are saved on some ways only (shrink-wrapping). */
CALLED static long rarely(long n, long *at)
{
    long kept;

    if (n < 3)
        return note(n);
    kept = at[0] * 7;
    at[1] += note(kept) + rarely(n - 1, at) + rarely(n - 3, at);
    return kept + at[1] + note(at[0]);
}

int main(void)
{
    long at[2] = {1, 2};

    for (long i = 0; i < 20; i++) {
        sum += mix(i) + any_length(i) + aligned(i % 6) + aligned_of_any_length(i);
        sum += (long)floating(1.5, 2.5f, 3.5L, i % 9) + rarely(i % 12, at);
    }
    printf("sum: %ld\n", sum);
    return 0;
}
