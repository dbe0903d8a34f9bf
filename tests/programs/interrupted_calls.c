/* Each trap is taken by a handler that calls functions: between two instructions of a function that
   has called others, deep in a recursion, in a leaf. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define CALLED __attribute__((noipa)) static
#define TRAP   __asm__ volatile("int3")

static volatile int handled, sum;

CALLED void tip(int i)
{
    sum += i;
}

CALLED void count(int i)
{
    handled++;
    tip(i);
}

CALLED void handler(int signal)
{
    count(signal);
}

CALLED int leaf(int i)
{
    TRAP;
    return i + 1;
}

CALLED int quiet(int i)
{
    return i + 1;
}

CALLED void deep(int i)
{
    char room[300];

    memset(room, i, sizeof room);
    if (i)
        deep(i - 1);
    for (int k = 0; !i && k < 50; k++) {
        sum += quiet(k);
        TRAP;
    }
    sum += room[7];
}

CALLED void flat(int i)
{
    sum += quiet(i);
    for (int k = 0; k < 100; k++) {
        TRAP;
        tip(k);
    }
}

CALLED void through_leaf(int i)
{
    for (int k = 0; k < 100; k++)
        sum += leaf(k + i);
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};

    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < 20; i++) {
        flat(i);
        deep(i % 5);
        through_leaf(i);
    }
    printf("%d %d\n", handled, sum);
    return 0;
}
