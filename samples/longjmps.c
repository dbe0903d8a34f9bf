/* 100,000 longjmps, each across eleven frames. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf top;

__attribute__((noinline)) static long descend(int frames)
{
    if (frames == 1)
        longjmp(top, 1);
    if (frames < 1)
        return 0;
    long below = descend(frames - 1);
    __asm__("" : "+r"(below));
    return below + 1;
}

int main(void)
{
    volatile long jumps = 0;
    while (jumps < 100000) {
        if (setjmp(top) == 0)
            descend(11);
        jumps++;
    }
    printf("%ld longjmps\n", jumps);
    return 0;
}
