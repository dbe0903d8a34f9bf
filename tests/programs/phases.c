/*
 * Waits for a line of input between its phases: 10 rounds of work, a million of storm, 100,000 of
 * work. Phases are up to three calls deep.
 */
#include "program.h"

#include <stdio.h>

COUNTED long leaf(long i)
{
    OPAQUE(i);
    return i + 1;
}

COUNTED long work(long rounds)
{
    long sum = 0;
    for (long i = 0; i < rounds; i++)
        sum = leaf(sum);
    return sum;
}

COUNTED long gust(long i)
{
    return leaf(i) + 1;
}

COUNTED long storm(long rounds)
{
    long sum = 0;
    for (long i = 0; i < rounds; i++)
        sum = gust(sum);
    return sum;
}

static void wait_for_line(const char *phase)
{
    puts(phase);
    fflush(stdout);
    while (getchar() != '\n' && !feof(stdin))
        ;
}

int main(void)
{
    long sum = work(10);

    wait_for_line("worked");
    sum += storm(1000000);
    wait_for_line("stormed");
    sum += work(100000);
    printf("%ld\n", sum);
    return 0;
}
