/* Calls functions that a debugger may stop in by their probes. */
#include <stdio.h>

int probed_late(int n), probed_early(int n);

int main(void)
{
    int sum = 0;

    for (int n = 0; n < 3; n++)
        sum += probed_late(n) + probed_early(n);
    printf("%d\n", sum);
    return 0;
}
