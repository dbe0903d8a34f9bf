/*
 * Threads that end by other ways than returning: pthread_exit from ten frames deep, cancelled while
 * they wait, cancelled anywhere in a computation; cleanup handlers and destructors of thread data
 * call functions on the way.
 */
#define _GNU_SOURCE
#include "program.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 50, FRAMES = 10 };

static pthread_key_t key;
static volatile long cleaned;
static volatile long destroyed;
static pthread_barrier_t begun;

COUNTED void clean(void *argument)
{
    __atomic_add_fetch(&cleaned, (long)argument, __ATOMIC_RELAXED);
}

COUNTED void destroy(void *argument)
{
    __atomic_add_fetch(&destroyed, fib((long)argument), __ATOMIC_RELAXED);
}

/* Goes FRAMES frames down, a cleanup handler in each, and calls the end there. */
COUNTED long descend(long depth, void (*end)(void))
{
    volatile long below = 0;
    pthread_cleanup_push(clean, (void *)1);
    if (depth == 0)
        end();
    else
        below = descend(depth - 1, end);
    pthread_cleanup_pop(0);
    return below + 1;
}

COUNTED void exit_thread(void)
{
    pthread_exit((void *)42);
}

COUNTED void wait_for_ever(void)
{
    pthread_barrier_wait(&begun);
    for (;;)
        pause();
}

COUNTED void compute_for_ever(void)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_barrier_wait(&begun);
    for (volatile long i = 0;; i++)
        ;
}

static void *thread_main(void *argument)
{
    pthread_setspecific(key, (void *)10);
    descend(FRAMES, (void (*)(void))argument);
    return NULL;
}

static void end_threads(const char *how, void (*end)(void), int cancel, void *expected)
{
    cleaned = destroyed = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, thread_main, (void *)end);
        if (cancel) {
            pthread_barrier_wait(&begun);
            pthread_cancel(thread);
        }
        pthread_join(thread, &result);
        REQUIRE(result == expected);
    }
    printf("%s: %ld cleaned, %ld destroyed\n", how, cleaned, destroyed);
}

int main(void)
{
    pthread_key_create(&key, destroy);
    pthread_barrier_init(&begun, NULL, 2);
    end_threads("pthread_exit", exit_thread, 0, (void *)42);
    end_threads("cancelled waiting", wait_for_ever, 1, PTHREAD_CANCELED);
    end_threads("cancelled computing", compute_for_ever, 1, PTHREAD_CANCELED);
    return 0;
}
