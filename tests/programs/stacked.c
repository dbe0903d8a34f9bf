/*
 * `stacked MODE`: threads, forks and programs that compute by the clock of their own processor time, so that
 * samples of it can be foretold: three parts in `often`, one in `seldom`, below `outer`.
 *
 *      threads   two threads, each of which computes
 *      fork      a child computes, then the parent, which ends with status 7
 *      exec      executes itself in mode `threads`
 *      deep      100 frames below main, in more stack than a sample has
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS 10000000ull
#define ROUNDS   8

static volatile unsigned long sink;

static unsigned long long processor_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

/* Seldom asks what time it is. */
#define COMPUTE_UNTIL(end, by)                                                                         \
    do                                                                                             \
        for (int i = 0; i < 100000; i++)                                                           \
            sink = sink * (by) + 1;                                                                 \
    while (processor_ns() < (end))

__attribute__((noinline)) static void often(unsigned long long end)
{
    COMPUTE_UNTIL(end, 3);
    __asm__ volatile("");
}

__attribute__((noinline)) static void seldom(unsigned long long end)
{
    COMPUTE_UNTIL(end, 5);
    __asm__ volatile("");
}

__attribute__((noinline)) static void outer(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        often(processor_ns() + 3 * SLICE_NS);
        seldom(processor_ns() + SLICE_NS);
    }
    __asm__ volatile("");
}

__attribute__((noinline)) static void deeper(int depth)
{
    char room[4096];

    memset(room, depth, sizeof(room));
    sink += (unsigned char)room[depth];
    if (depth)
        deeper(depth - 1);
    else
        outer();
    sink += (unsigned char)room[depth];
}

static void *run(void *unused)
{
    outer();
    return unused;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "threads";
    pthread_t threads[2];

    if (!strcmp(mode, "exec")) {
        execl(argv[0], argv[0], "threads", NULL);
        return 1;
    }
    if (!strcmp(mode, "fork")) {
        if (fork() == 0) {
            outer();
            _exit(0);
        }
        wait(NULL);
        outer();
        return 7;
    }
    if (!strcmp(mode, "deep")) {
        deeper(100);
        return 0;
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
