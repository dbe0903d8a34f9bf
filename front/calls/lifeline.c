#include "front/calls/lifeline.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* The kernel hands a robust mutex on when the thread that holds it ends, whatever ends it. */
struct lifeline {
    pthread_mutex_t mutex;
    int ends[2]; /* a pipe, whose end says that the mutex is held */
};

struct lifeline *lifeline_new(void)
{
    struct lifeline *lifeline =
        mmap(NULL, sizeof(*lifeline), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attributes;

    if (lifeline == MAP_FAILED || pipe2(lifeline->ends, O_CLOEXEC) < 0)
        return NULL;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lifeline->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return lifeline;
}

void lifeline_hold(struct lifeline *lifeline)
{
    pthread_mutex_lock(&lifeline->mutex);
    close(lifeline->ends[0]);
    close(lifeline->ends[1]);
}

void lifeline_wait(struct lifeline *lifeline)
{
    char byte;

    close(lifeline->ends[1]);
    while (read(lifeline->ends[0], &byte, 1) < 0 && errno == EINTR)
        ;
    close(lifeline->ends[0]);
    pthread_mutex_lock(&lifeline->mutex);
}
