/* Some thirty milliseconds of the processor, half of them between short waits. */
#include <time.h>

static volatile long sum;

__attribute__((noinline)) static void work(long count)
{
    for (long i = 0; i < count; i++)
        sum += i;
}

int main(void)
{
    const struct timespec wait = {0, 100000};

    for (int i = 0; i < 200; i++) {
        work(150000);
        nanosleep(&wait, 0);
    }
    for (int i = 0; i < 200; i++)
        work(150000);
    return 0;
}
