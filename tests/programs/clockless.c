/*
 * Makes calls of all kinds while the processor's clock is forbidden: who reads it dies of SIGSEGV.
 * Waits for a line on standard input, and makes them again. Each round calls, in all contexts,
 * `leaf` 4,003 times, `caller` 2,000, `jumper` 1,000, `down` 3,000, `leaver` 100 and `handle` once,
 * some of them on another stack.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <ucontext.h>

#define APART __attribute__((noinline, noclone))

static jmp_buf out;
static ucontext_t outside, inside;
static char stack[1 << 16];
static unsigned sum;

APART unsigned leaf(unsigned n)
{
    return n * 1664525 + 1013904223;
}

APART unsigned caller(unsigned n)
{
    return leaf(n) + 1;
}

APART unsigned jumper(unsigned n)
{
    return caller(n ^ 1);
}

APART unsigned down(unsigned n)
{
    unsigned below = n ? down(n - 1) : 0;

    __asm__ volatile("" : "+r"(below)); /* else it becomes a loop */
    return below + 1;
}

APART void leaver(unsigned n)
{
    sum += leaf(n);
    longjmp(out, 1);
}

APART void handle(int number)
{
    sum += leaf((unsigned)number);
}

APART void on_other_stack(void)
{
    sum += leaf(1);
    swapcontext(&inside, &outside);
    sum += leaf(2);
}

static void leave_often(void)
{
    for (volatile unsigned i = 0; i < 100; i++)
        if (!setjmp(out))
            leaver(i);
}

static void change_stacks(void)
{
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof(stack);
    inside.uc_link = &outside;
    makecontext(&inside, on_other_stack, 0);
    swapcontext(&outside, &inside);
    swapcontext(&outside, &inside);
}

static void permit_clock(int how)
{
    if (prctl(PR_SET_TSC, how) == 0)
        return;
    puts("the clock cannot be forbidden here");
    exit(99);
}

static void all(void)
{
    permit_clock(PR_TSC_SIGSEGV);
    for (unsigned i = 0; i < 1900; i++)
        sum += leaf(i);
    for (unsigned i = 0; i < 1000; i++)
        sum += caller(i) + jumper(i);
    sum += down(2999);
    leave_often();
    raise(SIGUSR1);
    change_stacks();
    permit_clock(PR_TSC_ENABLE);
}

int main(void)
{
    signal(SIGUSR1, handle);
    for (int round = 0; round < 2; round++) { /* in the same contexts */
        all();
        printf("round %d: %u\n", round, sum);
        fflush(stdout);
        if (!round)
            getchar();
    }
    return 0;
}
