/* Calls of all kinds that compilers make for i386; its output is the same however it is
 * instrumented. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((noinline))

struct five {
    int numbers[5];
};

static jmp_buf environment;
static __thread int own = 3;

static int compare(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

FUNCTION int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

FUNCTION int by_table(int n)
{
    switch (n) {
    case 0:
        return 5;
    case 1:
        return puts("one");
    case 2:
        return 7;
    case 3:
        return fibonacci(5);
    case 4:
        return 44;
    case 5:
        return 99;
    case 6:
        return puts("six");
    }
    return 0;
}

static int (*const functions[])(int) = {fibonacci, by_table};

FUNCTION double on_the_stack_of_the_fpu(double x)
{
    return x * 1.5;
}

FUNCTION long long in_two_registers(long long a, int b)
{
    return a * b;
}

FUNCTION struct five by_address(int first) /* ret 4 */
{
    return (struct five){{first, 2, 3, 4, 5}};
}

FUNCTION __attribute__((regparm(3))) int in_registers(int a, int b, int c)
{
    return a * 100 + b * 10 + c;
}

FUNCTION __attribute__((fastcall)) int in_ecx(int a, int b, int c)
{
    return a * 100 + b * 10 + c;
}

FUNCTION __attribute__((stdcall)) int takes_its_arguments(int a, int b)
{
    return a * 10 + b;
}

FUNCTION int begins_with_a_loop(const char *text)
{
    int sum = 0;

    do
        sum += *text;
    while (*++text);
    return sum;
}

FUNCTION void leave(int number)
{
    if (number)
        longjmp(environment, number);
}

FUNCTION int thread_local(void)
{
    return own++;
}

static void on_signal(int number)
{
    printf("signal %d\n", number);
}

__attribute__((constructor)) static void begin(void)
{
    puts("constructor");
}

__attribute__((destructor)) static void end(void)
{
    puts("destructor");
    fflush(stdout);
}

int main(void)
{
    int numbers[] = {3, 1, 2};
    volatile int turns = 0;
    char *copy;

    qsort(numbers, 3, sizeof(*numbers), compare);
    printf("%d %d\n", fibonacci(20), numbers[0]);
    for (int i = 0; i < 8; i++)
        printf("%d\n", by_table(i));
    for (int i = 0; i < 2; i++)
        printf("%d\n", functions[i](i + 4));
    printf("%f %lld %d\n", on_the_stack_of_the_fpu(2), in_two_registers(1ll << 33, 3),
           by_address(4).numbers[0]);
    printf("%d %d %d %d\n", in_registers(1, 2, 3), in_ecx(4, 5, 6), takes_its_arguments(7, 8),
           begins_with_a_loop("hello"));
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    if (!setjmp(environment)) {
        turns++;
        leave(5);
    }
    thread_local();
    copy = strdup("copied");
    printf("%d %d %s\n", turns, thread_local(), copy);
    free(copy);
    return 3;
}
