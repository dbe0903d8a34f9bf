#include <stdio.h>

extern long long (*pointer_to)(long long n);

int main(void)
{
    long long sum = 0;

    for (int i = 0; i < 100; i++)
        sum += pointer_to(i);
    printf("%lld\n", sum);
    return 0;
}
