/*
 * Calls functions of other images a known number of times: with callbacks into this one, with
 * floating-point and many arguments, with results in memory, as tail calls, around longjmp, and
 * waiting in them. Those called in a loop have a function of their own around them: built without
 * a PLT, a loop may keep an import's address in a register, and such calls are not seen.
 */
#define _GNU_SOURCE
#include "imports.h"
#include "program.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 200000000

static jmp_buf target;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static int compared;

static int compare(const void *left, const void *right)
{
    compared++;
    return *(const int *)left - *(const int *)right;
}

static COUNTED void sort_once(int *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare);
    OPAQUE(numbers);
}

static void sort(void)
{
    int numbers[64];

    for (int i = 0; i < 64; i++)
        numbers[i] = i * 37 % 64;
    for (int i = 0; i < 3; i++)
        sort_once(numbers, 64);
    REQUIRE(numbers[0] == 0 && numbers[63] == 63);
    printf("compared %d times\n", compared);
}

/* A tail call: `jmp malloc@plt`, or `jmp [rip + slot]` as the function's first instruction. */
COUNTED void *tail_malloc(size_t size)
{
    return malloc(size);
}

/* Not a tail call. */
static COUNTED void release(void *memory)
{
    free(memory);
    OPAQUE(memory);
}

static void allocate(void)
{
    for (size_t i = 1; i <= 100; i++) {
        char *memory = tail_malloc(i);

        OPAQUE(memory);
        REQUIRE(memory);
        memset(memory, 1, i);
        release(memory);
    }
}

static COUNTED void put_line(void)
{
    REQUIRE(write(STDOUT_FILENO, "written\n", 8) == 8);
}

static void print(void)
{
    for (int i = 0; i < 5; i++)
        printf("%d %.3f %g %s %Lf %c %.1f %.1f %.1f %.1f %.1f %.1f %.1f\n", i, i / 3.0, i * 1e10,
               "text", i * 2.5L, 'c', 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0);
    printf("%.1f\n", sum_of(12, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.));
    fflush(stdout);
    for (int i = 0; i < 7; i++)
        put_line();
}

static COUNTED void make_large(int first)
{
    struct large large = large_make(first);

    for (int i = 0; i < LARGE_COUNT; i++)
        REQUIRE(large.numbers[i] == first + i);
}

static COUNTED int nest(int depth)
{
    return depth ? 1 + call_back(nest, depth - 1) : 0;
}

static COUNTED int jump_out(int depth)
{
    if (depth)
        return call_back(jump_out, depth - 1);
    longjmp(target, 1);
}

static void jump(void)
{
    static volatile int jumps;

    if (setjmp(target) == 0 || jumps < 5) {
        jumps++;
        call_back(jump_out, 6);
    }
    printf("%d jumps\n", jumps);
}

/* The program's own getppid stands before the one of libc, which it finds by its place. */
pid_t getppid(void)
{
    pid_t (*next)(void);

    *(void **)&next = dlsym(RTLD_NEXT, "getppid");
    REQUIRE(next && next != getppid);
    return next();
}

static void *lock_late(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *read_late(void *unused)
{
    char byte;

    (void)unused;
    REQUIRE(read(ends[0], &byte, 1) == 1);
    return NULL;
}

static void wait_in_imports(void)
{
    struct timespec pause = {.tv_nsec = WAIT_NS};
    pthread_t locker, reader;

    REQUIRE(pipe(ends) == 0);
    pthread_mutex_lock(&lock);
    REQUIRE(pthread_create(&locker, NULL, lock_late, NULL) == 0);
    REQUIRE(pthread_create(&reader, NULL, read_late, NULL) == 0);
    nanosleep(&pause, NULL);
    pthread_mutex_unlock(&lock);
    REQUIRE(write(ends[1], "x", 1) == 1);
    pthread_join(locker, NULL);
    pthread_join(reader, NULL);
}

int main(void)
{
    sort();
    allocate();
    print();
    for (int i = 0; i < 9; i++)
        make_large(i);
    printf("nested %d\n", nest(50));
    jump();
    printf("parent %d\n", getppid() == 0);
    wait_in_imports();
    return 0;
}
