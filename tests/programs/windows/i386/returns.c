/*
 * What calls of i386 differ in: functions that take their arguments off the stack, arguments in ecx and edx, results in
 * eax, in eax and edx, in the x87, in memory that the caller has named. Every so many calls take long enough for a
 * tick, so their ends are noted in slow paths. At the first call, with which the recording begins, vector registers and
 * the last error are in use.
 */
#include <stdint.h>
#include <stdio.h>
#include <windows.h>

#define COUNTED __attribute__((noinline))
#define ROUNDS  400
#define LONG    100 /* calls, of which one takes long */

struct words {
    int32_t word[12];
};

static int calls;

static void take_long_sometimes(void)
{
    if (++calls % LONG == 0)
        Sleep(20);
}

COUNTED static int __stdcall taken_off(int a, int b, int c)
{
    take_long_sometimes();
    return a + 2 * b + 3 * c;
}

COUNTED static int __stdcall many_taken_off(int depth, struct words words)
{
    if (depth) {
        words.word[depth % 12] += depth;
        return many_taken_off(depth - 1, words) + taken_off(1, 2, depth);
    }
    take_long_sometimes();
    return words.word[0] + words.word[11];
}

COUNTED static int __fastcall in_registers(int a, int b, int c)
{
    take_long_sometimes();
    return taken_off(a, b, c) - b;
}

COUNTED static int64_t of_two_words(int64_t a, int b)
{
    take_long_sometimes();
    return a * b;
}

COUNTED static double of_the_x87(double a, float b)
{
    take_long_sometimes();
    return a / 3 + b;
}

__attribute__((noinline, sseregparm, target("sse2"))) static double of_vectors(double a, double b)
{
    return a * 2 + b;
}

/* The first that is hooked is of_vectors. */
__attribute__((noinline, target("sse2"), patchable_function_entry(0))) static void begin(double a, double b)
{
    double result;

    SetLastError(1234);
    result = of_vectors(a, b);
    printf("last error %lu, ", GetLastError());
    printf("first %.2f\n", result);
}

COUNTED static struct words in_memory(int first)
{
    struct words words = {{first}};

    take_long_sometimes();
    words.word[11] = first + 1;
    return words;
}

COUNTED static int64_t __stdcall one_round(int round)
{
    int64_t sum = taken_off(round, 2, 3) + in_registers(round, 5, 7);

    sum += many_taken_off(15, in_memory(round));
    sum += of_two_words(INT64_C(0x123456789) * round, -3);
    return sum + (int64_t)(of_the_x87(round, .5f) * 1000);
}

__attribute__((patchable_function_entry(0))) int main(int argc, char **argv)
{
    int64_t sum = 0;

    (void)argv;
    begin(argc + .25, argc * 7);
    for (int round = 0; round < ROUNDS; round++)
        sum += one_round(round);
    printf("sum %lld, calls %d\n", (long long)sum, calls);
    return 0;
}
