/*
 * Opens a FIFO, the first argument, 200 times by open() and 200 times by syscall(): each waits a
 * millisecond for the other end. Then sleeps.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TIMES 200

static pthread_barrier_t barrier;
static const char *path;

__attribute__((noinline)) static void nap(long ns)
{
    struct timespec time = {0, ns};

    nanosleep(&time, NULL);
}

__attribute__((noinline)) int opens(void)
{
    return open(path, O_RDONLY);
}

__attribute__((noinline)) int opens_by_number(void)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
}

__attribute__((noinline)) void sleeps(void)
{
    nap(50000000);
}

static void *open_other_ends(void *unused)
{
    for (int i = 0; i < 2 * TIMES; i++) {
        pthread_barrier_wait(&barrier);
        nap(1000000);
        close(open(path, O_WRONLY));
    }
    return unused;
}

static void open_ends(int (*opens_one)(void))
{
    for (int i = 0; i < TIMES; i++) {
        int end;

        pthread_barrier_wait(&barrier);
        end = opens_one();
        if (end < 0)
            exit(1);
        close(end);
    }
}

int main(int count, char **arguments)
{
    pthread_t other;

    if (count != 2)
        return 2;
    path = arguments[1];
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&other, NULL, open_other_ends, NULL);
    open_ends(opens);
    open_ends(opens_by_number);
    pthread_join(other, NULL);
    sleeps();
    puts("done");
    return 0;
}
