/*
 * Many of everything:
 *
 *      live N      threads that are all alive before the first one ends
 *      ending N    threads that begin and end, 4 at a time
 *      tree N      forks two children, which execute `tree N - 1`; N = 0 works
 *      waiting     works, says so, and waits for the end of its input
 */
#define _GNU_SOURCE
#include "program.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t all_here;

COUNTED void *live(void *unused)
{
    long result = fib(10);

    OPAQUE(result);
    pthread_barrier_wait(&all_here);
    return unused;
}

COUNTED void *end(void *unused)
{
    long result = fib(5);

    OPAQUE(result);
    return unused;
}

static pthread_t begin(void *(*function)(void *))
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    REQUIRE(pthread_attr_setstacksize(&attributes, 64 << 10) == 0);
    REQUIRE(pthread_create(&thread, &attributes, function, 0) == 0);
    return thread;
}

COUNTED void all_live(int count)
{
    pthread_t *threads = calloc((size_t)count, sizeof(*threads));

    REQUIRE(pthread_barrier_init(&all_here, 0, (unsigned)count) == 0);
    for (int i = 0; i < count; i++)
        threads[i] = begin(live);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], 0);
    free(threads);
}

COUNTED void begin_and_end(int count)
{
    pthread_t threads[4];

    for (int i = 0; i < count; i++) {
        if (i >= 4)
            pthread_join(threads[i % 4], 0);
        threads[i % 4] = begin(end);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
}

COUNTED void grow(const char *self, int depth)
{
    char below[12];
    int status;

    snprintf(below, sizeof(below), "%d", depth - 1);
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            long result = fib(3);

            OPAQUE(result);
            execl(self, self, "tree", below, (char *)0);
            _exit(98);
        }
    }
    for (int i = 0; i < 2; i++) {
        REQUIRE(wait(&status) > 0);
        REQUIRE(status == 0);
    }
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    int n = count > 2 ? atoi(arguments[2]) : 0;

    if (!strcmp(what, "live"))
        all_live(n);
    if (!strcmp(what, "ending"))
        begin_and_end(n);
    if (!strcmp(what, "tree") && n > 0)
        grow(arguments[0], n);
    if (!strcmp(what, "tree") && n == 0)
        printf("%ld\n", fib(4));
    if (!strcmp(what, "waiting")) {
        printf("%ld\n", fib(10));
        fflush(stdout);
        while (getchar() != EOF)
            ;
    }
    return 0;
}
