/*
 * Faults in the middle of prologues, where some registers are saved and some are not: what a
 * prologue does that meets the guard page. The frame above handles them, and has its registers.
 */
#include <stdio.h>
#include <windows.h>

#define COUNTED __attribute__((noinline))
#define ROUNDS  100

/* prologues.S: what *from is; they read it after none, one, two steps of the prologue, and all */
int load_first(const int *from);
int load_pushed(const int *from);
int load_pushed_twice(const int *from);
int load_allocated(const int *from);

typedef int loader(const int *from);

static loader *const loaders[] = {load_first, load_pushed, load_pushed_twice, load_allocated};

/* Its variables lie in the registers that the prologues save. */
COUNTED static int fault(loader *load, const int *from, int a, int b, int c, int d)
{
    __asm__ volatile("" : "+b"(a), "+S"(b), "+D"(c), "+r"(d));
    __try {
        a += load(from);
    } __except (GetExceptionCode() == EXCEPTION_ACCESS_VIOLATION) {
        a += 1000;
    }
    __asm__ volatile("" : "+b"(a), "+S"(b), "+D"(c), "+r"(d));
    return a + b * 10 + c * 100 + d * 1000;
}

int main(void)
{
    const int five = 5;
    long sum = 0;

    for (int i = 0; i < 4; i++)
        printf("%d: %d %d\n", i, fault(loaders[i], &five, 1, 2, 3, 4),
               fault(loaders[i], NULL, 1, 2, 3, 4));
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 4; i++)
            sum += fault(loaders[i], round % 2 ? NULL : &five, round, i, 7, 8);
    printf("%ld\n", sum);
    fflush(stdout);
    return 8;
}
