/* longjmp unwinds on Windows: out of deep frames, over and over, from a callback of qsort, and on
   four threads at once. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#define COUNTED __attribute__((noinline))
#define FRAMES  10
#define ROUNDS  1000
#define THREADS 4

struct jumper {
    jmp_buf target;
    int numbers[16];
    volatile long landed, finished;
};

static __thread struct jumper *current;

COUNTED static int descend(struct jumper *jumper, int depth, int value)
{
    if (!depth && value % 4)
        longjmp(jumper->target, value);
    if (!depth)
        return value;
    return descend(jumper, depth - 1, value) + 1;
}

COUNTED static void land(struct jumper *jumper, int value)
{
    if (setjmp(jumper->target)) {
        jumper->landed++;
        return;
    }
    descend(jumper, FRAMES, value);
    jumper->finished++;
}

COUNTED static int compare(const void *a, const void *b)
{
    if (*(const int *)a == 7)
        longjmp(current->target, 1);
    return *(const int *)a - *(const int *)b;
}

COUNTED static void out_of_a_callback(struct jumper *jumper)
{
    for (int i = 0; i < 16; i++)
        jumper->numbers[i] = 16 - i;
    current = jumper;
    if (!setjmp(jumper->target))
        qsort(jumper->numbers, 16, sizeof *jumper->numbers, compare);
    else
        jumper->landed++;
}

static DWORD WINAPI rounds(void *name)
{
    struct jumper jumper = {.landed = 0};

    for (int round = 0; round < ROUNDS; round++) {
        land(&jumper, round);
        out_of_a_callback(&jumper);
    }
    printf("%s: landed %ld, finished %ld\n", (const char *)name, jumper.landed, jumper.finished);
    return 0;
}

int main(void)
{
    HANDLE threads[THREADS];

    rounds("one thread");
    for (int i = 0; i < THREADS; i++)
        threads[i] = CreateThread(0, 0, rounds, "one of four", 0, 0);
    WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
    return 0;
}
