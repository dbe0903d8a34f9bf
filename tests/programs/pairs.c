/*
 * pairs: 64 functions that call each other by chance, in all 4,096 pairs. Says how often each one
 * was called.
 */
#include "program.h"

#include <stdint.h>

#define FUNCTIONS 64
#define WALKS     2000
#define STEPS     100

typedef void step(int left);

static step *const functions[FUNCTIONS];
static long calls[FUNCTIONS];
static uint32_t seed = 1;

static inline int by_chance(void)
{
    seed = seed * 1664525 + 1013904223;
    return (int)(seed >> 26);
}

#define STEP(number)                                                                               \
    static COUNTED void step_##number(int left)                                                    \
    {                                                                                              \
        calls[number]++;                                                                           \
        if (left)                                                                                  \
            functions[by_chance()](left - 1);                                                      \
        OPAQUE(left);                                                                              \
    }
#define EIGHT(each, row)                                                                           \
    each(row##0) each(row##1) each(row##2) each(row##3) each(row##4) each(row##5) each(row##6)     \
        each(row##7)
#define ALL(each)                                                                                  \
    EIGHT(each, 00)                                                                                \
    EIGHT(each, 01)                                                                                \
    EIGHT(each, 02) EIGHT(each, 03) EIGHT(each, 04) EIGHT(each, 05) EIGHT(each, 06)                \
        EIGHT(each, 07)
#define NAME(number) step_##number,

ALL(STEP) /* their numbers are octal */

static step *const functions[FUNCTIONS] = {ALL(NAME)};

int main(void)
{
    for (int i = 0; i < WALKS; i++)
        functions[by_chance()](STEPS - 1);
    for (int i = 0; i < FUNCTIONS; i++)
        printf("step_0%o%o %ld\n", i / 8, i % 8, calls[i]);
}
