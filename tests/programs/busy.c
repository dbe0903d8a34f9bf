/*
 * Four threads that call, return, jump out of calls and reach new contexts all the time, and a
 * fifth that starts and joins short ones, until standard input ends. `busy STATUS` then ends with
 * that status through _exit.
 *
 * Threads become fewer with time: a trace has all of them, and one that takes long to read because the
 * machine is slow would else grow meanwhile, and take longer.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_bool ending;
static _Thread_local jmp_buf out;

__attribute__((noinline)) static unsigned leaf(unsigned seed)
{
    return seed * 1664525 + 1013904223;
}

__attribute__((noinline)) static unsigned jump(unsigned seed)
{
    if (seed >> 28 == 0)
        longjmp(out, 1);
    return leaf(seed);
}

__attribute__((noinline)) static unsigned left(unsigned seed, unsigned depth);

/* Each way down is a context of its own: there are 2^depth. */
__attribute__((noinline)) static unsigned right(unsigned seed, unsigned depth)
{
    if (!depth)
        return jump(leaf(seed));
    return seed >> 12 & 1u << depth ? left(seed, depth - 1) + 1 : right(seed, depth - 1) + 2;
}

__attribute__((noinline)) static unsigned left(unsigned seed, unsigned depth)
{
    if (!depth)
        return leaf(seed);
    return seed >> 12 & 1u << depth ? right(seed, depth - 1) + 3 : left(seed, depth - 1) + 4;
}

__attribute__((noinline)) static unsigned round_of(unsigned seed)
{
    if (setjmp(out))
        return seed;
    return left(seed, (seed >> 8) % 14);
}

static void *work(void *seed)
{
    volatile unsigned value = (unsigned)(size_t)seed;

    while (!ending)
        value = round_of(leaf(value));
    return NULL;
}

static void *work_shortly(void *seed)
{
    return (void *)(size_t)round_of((unsigned)(size_t)seed << 8);
}

static void *start_others(void *unused)
{
    for (size_t i = 0; !ending; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work_shortly, (void *)i))
            break;
        pthread_join(thread, NULL);
        usleep(i < 500 ? 2000 : 100000);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[5];

    for (size_t i = 0; i < 5; i++)
        pthread_create(&threads[i], NULL, i < 4 ? work : start_others, (void *)(i + 1));
    puts("busy");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    ending = 1;
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    if (argc > 1)
        _exit(atoi(argv[1]));
    return 0;
}
