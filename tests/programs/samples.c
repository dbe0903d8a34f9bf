/*
 * Where its time goes is known: `longer` takes three times as long as `shorter`, whatever the
 * processor, since each step of both waits for the one before. `filling` and `sorting` have libc
 * work. A thread and a child have functions of their own.
 *
 * Prints what the kernel calls the process, its thread and its child, and where functions are.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define ROUNDS   100

static char area[1 << 20];
static int numbers[20000];
static volatile uint64_t result;

static inline __attribute__((always_inline)) void step(long count)
{
    uint64_t value = result;

    for (long i = 0; i < count; i++)
        value = value * 6364136223846793005 + 1;
    result = value;
}

NOINLINE void longer(void)
{
    step(1200000);
}

NOINLINE void shorter(void)
{
    step(400000);
}

NOINLINE void filling(void)
{
    void *(*volatile fill)(void *, int, size_t) = memset;

    for (int i = 0; i < 40; i++)
        fill(area, i, sizeof(area));
    result++;
}

static int compare(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

NOINLINE void sorting(void)
{
    unsigned random = 1;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        numbers[i] = (int)(random = random * 1103515245 + 12345) >> 8;
    qsort(numbers, sizeof(numbers) / sizeof(*numbers), sizeof(*numbers), compare);
    result++;
}

NOINLINE void in_thread(void)
{
    step(100000000);
}

NOINLINE void in_child(void)
{
    step(100000000);
}

static void *thread(void *unused)
{
    printf("thread %ld\n", syscall(SYS_gettid));
    in_thread();
    return unused;
}

int main(void)
{
    pthread_t other;
    pid_t child;

    printf("process %d\n", (int)getpid());
    printf("at longer %p\nat shorter %p\nat filling %p\nat sorting %p\nat in_thread %p\n"
           "at in_child %p\n",
           (void *)longer, (void *)shorter, (void *)filling, (void *)sorting, (void *)in_thread,
           (void *)in_child);
    pthread_create(&other, 0, thread, 0);
    pthread_join(other, 0);
    fflush(stdout);
    child = fork();
    if (!child) {
        in_child();
        _exit(0);
    }
    printf("child %d\n", (int)child);
    waitpid(child, 0, 0);
    for (int i = 0; i < ROUNDS; i++) {
        longer();
        shorter();
        filling();
        sorting();
    }
    return 0;
}
