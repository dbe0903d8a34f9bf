/* fib(30) the slow way: exactly 2,692,537 calls of fib. */
#include <stdio.h>

/* The empty asm keeps the compiler from turning one of the two calls into a loop. */
__attribute__((noinline)) static long fib(long n)
{
    if (n < 2)
        return n;
    long left = fib(n - 1);
    long right = fib(n - 2);
    __asm__("" : "+r"(left), "+r"(right));
    return left + right;
}

int main(void)
{
    printf("fib(30) = %ld\n", fib(30));
    return 0;
}
