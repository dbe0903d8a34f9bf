/*
 * Functions that others call back: sorting and searching, trees, once, keys of threads, atexit and
 * on_exit, constructors and destructors, lists of modules, handlers. Some call back into what calls
 * them back, and some leave by a jump.
 */
#define _GNU_SOURCE
#include "program.h"

#include <link.h>
#include <pthread.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#define CALLED __attribute__((noinline))

enum { COUNT = 200 };

static long sum;
static int numbers[COUNT];
static jmp_buf out;

CALLED static int weigh(int n)
{
    sum += n & 3;
    return n & 0xff;
}

CALLED static int compare(const void *left, const void *right)
{
    return weigh(*(const int *)left) - weigh(*(const int *)right);
}

CALLED static void fill(int count, unsigned seed)
{
    for (int i = 0; i < count; i++)
        numbers[i] = (int)((seed = seed * 1103515245 + 12345) >> 16 & 1023);
}

/* Its comparison sorts and searches, too. */
CALLED static int compare_deeply(const void *left, const void *right, void *depth)
{
    int few[5] = {5, *(const int *)left & 7, 3, *(const int *)right & 7, 1}, key = 3;

    if (*(int *)depth) {
        --*(int *)depth;
        qsort_r(few, 5, sizeof *few, compare_deeply, depth);
        sum += bsearch(&key, few, 5, sizeof *few, compare) != NULL;
    }
    return compare(left, right);
}

CALLED static int leave_at(const void *left, const void *right, void *when)
{
    if (--*(int *)when == 0)
        longjmp(out, 1);
    return compare(left, right);
}

CALLED static void leave_sorting(void)
{
    for (volatile int i = 1; i < 30; i++) {
        int when = i;

        if (setjmp(out) == 0)
            qsort_r(numbers, COUNT, sizeof *numbers, leave_at, &when);
        sum += weigh(i);
    }
}

CALLED static void visit(const void *node, VISIT which, int depth)
{
    if (which == postorder || which == leaf)
        sum += weigh(**(const int *const *)node) * depth;
}

CALLED static void release(void *node)
{
    sum += weigh(*(int *)node);
}

CALLED static void grow_tree(void)
{
    void *root = NULL;

    for (int i = 0; i < 50; i++)
        tsearch(&numbers[i], &root, compare);
    twalk(root, visit);
    tdestroy(root, release);
}

CALLED static void begin_once(void)
{
    sum += fib(5);
}

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

CALLED static void end_of_thread(void *value)
{
    sum += fib((long)value);
}

CALLED static void clean_up(void *value)
{
    sum += weigh((int)(long)value);
}

CALLED static void *run_thread(void *value)
{
    pthread_once(&once, begin_once);
    pthread_setspecific(key, value);
    pthread_cleanup_push(clean_up, value);
    sum += fib(6);
    if ((long)value & 1)
        pthread_exit(NULL);
    pthread_cleanup_pop(1);
    return NULL;
}

CALLED static void run_threads(void)
{
    pthread_key_create(&key, end_of_thread);
    for (long i = 0; i < 4; i++) {
        pthread_t thread;

        pthread_create(&thread, NULL, run_thread, (void *)(i + 3));
        pthread_join(thread, NULL);
    }
}

CALLED static int see_module(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    sum += weigh(info->dlpi_phnum > 0);
    return ++*(int *)count == 2; /* how many there are is not the program's */
}

CALLED static void handle(int number)
{
    static volatile int depth;

    sum += weigh(number);
    if (++depth < 4)
        raise(number);
    depth--;
    qsort(numbers, 8, sizeof *numbers, compare);
}

CALLED static void raise_some(void)
{
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_NODEFER};

    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 5; i++) {
        raise(SIGUSR1);
        sum += fib(4);
    }
}

CALLED static void at_exit(void)
{
    sum += fib(7);
    printf("at exit: %ld\n", sum);
}

CALLED static void on_exit_too(int status, void *value)
{
    sum += weigh(status) + fib((long)value);
    qsort(numbers, 8, sizeof *numbers, compare);
}

__attribute__((constructor)) static void construct(void)
{
    fill(16, 3);
    qsort(numbers, 16, sizeof *numbers, compare);
}

__attribute__((destructor)) static void destruct(void)
{
    sum += fib(3);
    printf("destructor: %ld\n", sum);
}

CALLED static void sort(void)
{
    int depth = 20;

    for (unsigned i = 0; i < 5; i++) {
        fill(COUNT, i);
        qsort(numbers, COUNT, sizeof *numbers, compare);
        for (int key = 0; key < 300; key += 7)
            sum += bsearch(&key, numbers, COUNT, sizeof *numbers, compare) != NULL;
    }
    qsort_r(numbers, 20, sizeof *numbers, compare_deeply, &depth);
}

int main(void)
{
    int modules = 0;

    atexit(at_exit);
    on_exit(on_exit_too, (void *)4);
    sort();
    leave_sorting();
    grow_tree();
    pthread_once(&once, begin_once);
    run_threads();
    dl_iterate_phdr(see_module, &modules);
    raise_some();
    printf("sum: %ld\n", sum);
    exit(3);
}
