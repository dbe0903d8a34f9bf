/* Fifty threads that call work() a hundred times each. */
#include <pthread.h>

#define THREADS 50

static volatile int sum[THREADS];

__attribute__((noinline)) void work(int number)
{
    for (int i = 0; i < 100; i++)
        sum[number] = sum[number] + i;
}

static void *body(void *argument)
{
    for (int i = 0; i < 100; i++)
        work((int)(long)argument);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, body, (void *)i))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
