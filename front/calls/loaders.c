#include "front/calls/loaders.h"

#include <pthread.h>

#include "support/memory.h"

#define PLACES 256

/* Each process in the place that its pid has, until it executes something. A pid that is used again
   begins by executing something, or as the child of one that has: then its linker lies where it
   lies in that one. */
struct loaders {
    pthread_mutex_t mutex;
    struct loader {
        pid_t pid;
        struct tracee_linker linker;
    } list[PLACES];
};

struct loaders *loaders_new(void)
{
    struct loaders *loaders = memory_zeroed(1, sizeof(*loaders));

    pthread_mutex_init(&loaders->mutex, NULL);
    return loaders;
}

static struct loader *loader_of(struct loaders *loaders, pid_t pid)
{
    return &loaders->list[(unsigned)pid % PLACES];
}

bool loaders_have(struct loaders *loaders, pid_t pid, uint64_t instruction)
{
    struct loader loader;

    pthread_mutex_lock(&loaders->mutex);
    loader = *loader_of(loaders, pid);
    pthread_mutex_unlock(&loaders->mutex);
    return loader.pid == pid && instruction >= loader.linker.begin &&
           instruction < loader.linker.end;
}

void loaders_add(struct loaders *loaders, pid_t pid, const struct tracee_linker *linker)
{
    pthread_mutex_lock(&loaders->mutex);
    *loader_of(loaders, pid) = (struct loader){pid, *linker};
    pthread_mutex_unlock(&loaders->mutex);
}

void loaders_forget(struct loaders *loaders, pid_t pid)
{
    pthread_mutex_lock(&loaders->mutex);
    loader_of(loaders, pid)->pid = 0;
    pthread_mutex_unlock(&loaders->mutex);
}
