/*
 * Jumps out of calls: out of loops, recursions and tail calls, to frames far up and near by, out of
 * handlers that were raised or caught a fault, on the same stack and on an alternate one, out of
 * qsort. Frames that go on make the same calls again, in the same place on the stack.
 */
#define _GNU_SOURCE
#include "program.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define CALLED __attribute__((noinline))

static long sum;
static jmp_buf points[8];
static sigjmp_buf behind;
static int is_leaving;

CALLED static long work(long n)
{
    sum = sum * 5 + n;
    return sum & 15;
}

/* The last instruction is a call: it returns to nowhere. */
CALLED __attribute__((noreturn)) static void leave(int point, int value)
{
    work(value);
    longjmp(points[point], value);
}

CALLED static long deeper(long depth, int point)
{
    long below;

    if (depth == 0)
        leave(point, 1 + (int)work(point));
    below = deeper(depth - 1, point);
    OPAQUE(below);
    return below + work(depth);
}

/* The frame is left in every round, by calls from different places. */
CALLED static void loop(int point, long rounds)
{
    for (volatile long round = 0; round < rounds; round++) {
        int value = setjmp(points[point]);

        if (value == 0 && round % 3 == 0)
            deeper(round % 7, point);
        if (value == 0 && round % 3 == 1)
            work(deeper(3, point));
        if (value > 8)
            work(value);
        else
            work(work(value));
    }
}

/* Each has a point of its own; the innermost goes to one of them. */
CALLED static long nest(int level, int to)
{
    volatile int times = 0;
    volatile long here = level;

    setjmp(points[level]);
    if (times++ < 3) {
        here += work(level);
        if (level < 7)
            here += nest(level + 1, to);
        else
            deeper(to, to);
    }
    return here + work(here);
}

CALLED static long jump_b(long n, int point);

CALLED static long jump_a(long n, int point)
{
    work(n);
    if (n == 0)
        leave(point, 2);
    return jump_b(n - 1, point);
}

CALLED static long jump_b(long n, int point)
{
    return n & 1 ? jump_a(n, point) : jump_a(n > 2 ? n - 2 : 0, point);
}

CALLED static void leave_jumps(void)
{
    for (volatile long i = 0; i < 40; i++) {
        if (setjmp(points[0]) == 0)
            work(jump_a(i, 0));
        work(i);
    }
}

CALLED static int compare(const void *left, const void *right)
{
    if (work(0) == 9)
        leave(1, 3);
    return *(const int *)left - *(const int *)right;
}

CALLED static void leave_sorting(void)
{
    for (volatile int i = 0; i < 40; i++) {
        int numbers[] = {5, 3, 9, i & 7, 1, i & 3, 8};

        if (setjmp(points[1]) == 0)
            qsort(numbers, 7, sizeof *numbers, compare);
        work(numbers[0]);
    }
}

CALLED static void handle(int number)
{
    work(number);
    if (is_leaving)
        siglongjmp(behind, 1);
}

CALLED static long raise_below(long depth)
{
    long below = depth ? raise_below(depth - 1) : raise(SIGUSR1);

    OPAQUE(below);
    return below + work(depth);
}

static char *nowhere;

/* Is continued behind a fault by the handler, which makes the page readable, or is left. */
CALLED static void handle_fault(int number)
{
    work(number);
    if (is_leaving)
        siglongjmp(behind, 2);
    mprotect(nowhere, 4096, PROT_READ);
    deeper(0, 2 + (setjmp(points[2]) ? leave(3, 1), 0 : 0));
}

CALLED static long touch(long depth)
{
    long below = depth ? touch(depth - 1) : *(volatile char *)nowhere;

    OPAQUE(below);
    return below + work(depth);
}

CALLED static void handlers(int flags)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags | SA_NODEFER};

    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = handle_fault;
    sigaction(SIGSEGV, &action, NULL);
    for (volatile int i = 0; i < 60; i++) {
        is_leaving = i % 3 != 0;
        if (sigsetjmp(behind, 1) == 0)
            raise_below(i % 5);
        work(i);
        mprotect(nowhere, 4096, PROT_NONE);
        if (setjmp(points[3]) == 0 && sigsetjmp(behind, 1) == 0)
            touch(i % 4);
        work(i);
    }
}

int main(void)
{
    stack_t alternate = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};

    nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    loop(0, 60);
    for (int to = 0; to < 8; to++)
        work(nest(0, to));
    leave_jumps();
    leave_sorting();
    handlers(0);
    sigaltstack(&alternate, NULL);
    handlers(SA_ONSTACK);
    printf("sum: %ld\n", sum);
    return 0;
}
