/* Control flow of every kind that a copied body has to go on with: each function's result is
 * printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

static volatile int sink;
static __thread int own = 3;

static APART int leaf(int a, int b)
{
    return a * 31 + b;
}

static APART int calls(int n)
{
    return leaf(n, 1) + leaf(n, 2);
}

static APART int recursion(int n)
{
    return n < 2 ? n : recursion(n - 1) + recursion(n - 2);
}

static APART int tail(int n, int sum)
{
    sink = n;
    if (n == 0)
        return leaf(sum, 7);
    return calls(n + sum);
}

static APART int tail_on_condition(int n)
{
    if (n > 5)
        return recursion(n);
    sink = n;
    if (n < 0)
        return abs(n);
    return n;
}

static APART int dense(int n)
{
    switch (n) {
    case 0:
        return leaf(1, 2);
    case 1:
        sink = 4;
        break;
    case 2:
        return 17;
    case 3:
        sink += recursion(5);
        break;
    case 4:
        puts("four");
        return 9;
    case 5:
        return tail(3, n);
    case 6:
        sink = n * 3;
        /* fall through */
    case 7:
        sink += 5;
        break;
    default:
        return -1;
    }
    return sink;
}

static APART int interpret(const char *program)
{
    static void *const labels[] = {&&add, &&twice, &&call, &&end};
    int value = 1;

#define NEXT goto *labels[*program++ - 'a']
    NEXT;
add:
    value += 3;
    NEXT;
twice:
    value *= 2;
    NEXT;
call:
    value = leaf(value, 1) % 1000;
    NEXT;
end:
    return value;
}

static int by_value(const void *left, const void *right)
{
    return leaf(*(const int *)left, 0) - leaf(*(const int *)right, 0);
}

static APART int callbacks(void)
{
    int numbers[64], sum = 0;

    for (int i = 0; i < 64; i++)
        numbers[i] = i * 37 % 64;
    qsort(numbers, 64, sizeof *numbers, by_value);
    for (int i = 0; i < 64; i++)
        sum = sum * 3 + numbers[i];
    return sum;
}

static int (*volatile pointer)(int, int) = leaf;

static APART int through_pointer(int n)
{
    return pointer(n, pointer(n, n));
}

static APART int tail_through_pointer(int n)
{
    sink = n;
    return pointer(n, 5);
}

static jmp_buf back;

static APART void jump_at(int n)
{
    if (n == 0)
        longjmp(back, 6);
    jump_at(n - 1);
    sink++;
}

static APART int jumps(void)
{
    int status = setjmp(back);

    if (status == 0)
        jump_at(20);
    return status + own;
}

static APART int varied(int count, ...)
{
    double sum = 0;
    va_list list;

    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += i % 2 ? va_arg(list, double) : va_arg(list, int);
    va_end(list);
    return (int)(sum * 10);
}

static APART uint64_t short_branches(uint64_t n)
{
#ifdef __x86_64__
    uint64_t count = n, sum = 0;

    __asm__ volatile("1:  add %1, %0\n"
                     "    loop 1b\n"
                     "    jrcxz 2f\n"
                     "    xor %0, %0\n"
                     "2:  cmpl $0, %2\n"
                     "    jne 3f\n"
                     "    inc %0\n"
                     "3:"
                     : "+r"(sum), "+c"(count)
                     : "m"(sink)
                     : "cc");
    return sum;
#else
    return n * (n + 1) / 2;
#endif
}

static APART int large_frame(int n)
{
    volatile char frame[9000];

    for (size_t i = 0; i < sizeof frame; i++)
        frame[i] = (char)(i * (size_t)n);
    return frame[n] + leaf(frame[100], n);
}

static APART int variable_frame(int n)
{
    volatile int frame[n];

    for (int i = 0; i < n; i++)
        frame[i] = leaf(i, n);
    return frame[n / 2];
}

int main(void)
{
    printf("calls %d, recursion %d\n", calls(5), recursion(15));
    printf("tail %d %d, on a condition %d %d %d\n", tail(0, 4), tail(2, 4), tail_on_condition(9),
           tail_on_condition(3), tail_on_condition(-4));
    for (int i = -1; i < 9; i++)
        printf("dense %d: %d\n", i, dense(i));
    printf("interpreted %d\n", interpret("abacbabcad"));
    printf("callbacks %d, pointers %d %d\n", callbacks(), through_pointer(3),
           tail_through_pointer(4));
    printf("jumps %d, varied %d\n", jumps(), varied(4, 1, 2.5, 3, 4.5));
    sink = 0;
    printf("short branches %llu\n", (unsigned long long)short_branches(10));
    printf("frames %d %d\n", large_frame(77), variable_frame(11));
    return 5;
}
