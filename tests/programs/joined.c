/* Calls functions that go on in others. */
#include <stdio.h>

int leaf(int n), joins(int n), joins_at_times(int n), joins_deeper(int n);

__attribute__((noinline)) static int all(int n)
{
    return leaf(n) + joins(n) + joins_at_times(n) + joins_deeper(n);
}

int main(void)
{
    int sum = 0;

    for (int n = 0; n < 1000; n++)
        sum += all(n);
    printf("%d\n", sum);
    return 0;
}
