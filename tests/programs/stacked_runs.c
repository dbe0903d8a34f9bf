/* A thread computes for ever; another one begins others, which compute for a moment, again and again. */
#include <pthread.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline, noipa)) static void busy(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink = sink * 3 + 1;
    __asm__ volatile("");
}

static void *for_ever(void *unused)
{
    for (;;)
        busy(1000000);
    return unused;
}

static void *for_a_moment(void *unused)
{
    for (int i = 0; i < 20; i++)
        busy(1000000);
    return unused;
}

int main(void)
{
    pthread_t first, other;

    pthread_create(&first, NULL, for_ever, NULL);
    for (;;) {
        pthread_create(&other, NULL, for_a_moment, NULL);
        pthread_join(other, NULL);
        usleep(100000);
    }
}
