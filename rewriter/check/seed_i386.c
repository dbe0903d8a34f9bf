/* A program of i386 to be read: it has what compilers and linkers put into one. */
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

int (*volatile chosen)(const void *, const void *) = compare;

int main(void)
{
    int numbers[] = {3, 1, 2};

    qsort(numbers, 3, sizeof(*numbers), chosen);
    printf("%d\n", numbers[0]);
    return 0;
}
