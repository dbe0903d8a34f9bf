/*
 * A program of some 1,000,000 instructions, the same in each run. With -DSECOND `weigh` takes 20 more in each of its
 * 100 calls, 0.2% of all, and `report`, which lies in front of it and is not called, is longer: all code behind moves.
 */
#include <stdio.h>

#define OWN __attribute__((noipa))

#ifdef SECOND
#define ROUNDS 45
#else
#define ROUNDS 40
#endif

static volatile unsigned sink;
static unsigned table[64];

OWN static unsigned fill(unsigned seed)
{
    for (unsigned i = 0; i < 64; i++)
        table[i] = seed = seed * 1103515245 + 12345;
    return seed;
}

OWN static void report(unsigned value)
{
    printf("%u\n", value);
#ifdef SECOND
    for (unsigned i = 0; i < 64; i++)
        printf("%u %u %s\n", i, table[i] ^ value, table[i] & 1 ? "odd" : "even");
    sink = value * 17;
#endif
}

/* Four instructions in each round. */
OWN static unsigned weigh(unsigned value)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        value ^= value << 3;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

OWN static void first_of_two(void)
{
    sink++;
}

OWN static void second_of_two(void)
{
    sink++;
}

OWN static unsigned mix(unsigned value)
{
    for (unsigned i = 0; i < 64; i++) {
        value += table[i];
        if (value & 8)
            value = value << 7 | value >> 25;
    }
    return value;
}

OWN static unsigned step(unsigned value, int number)
{
    first_of_two();
    for (int i = 0; i < 18; i++)
        value = mix(value);
    if (number % 3 == 0)
        second_of_two();
    return value + weigh(value);
}

int main(int argc, char **argv)
{
    unsigned value = fill(42);

    (void)argv;
    for (int i = 0; i < 100; i++)
        value = step(value, i);
    if (argc > 1)
        report(value);
    sink = value;
    return 0;
}
