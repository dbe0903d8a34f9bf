/*
 * A million frames at once, or -DFRAMES=N: twice on a thread with a big stack, then on the main
 * thread of this program started anew with a limit that allows it.
 */
#define _GNU_SOURCE
#include "program.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef FRAMES
#define FRAMES 1000000L
#endif
static const size_t stack_size = 256ul << 20;

COUNTED long descend(long depth)
{
    long below = depth == 0 ? 0 : descend(depth - 1);
    OPAQUE(below);
    return below + 1;
}

static void *thread_main(void *argument)
{
    (void)argument;
    printf("thread: %ld frames\n", descend(FRAMES - 1));
    printf("again: %ld frames\n", descend(FRAMES - 1));
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "main") == 0) {
        printf("main: %ld frames\n", descend(FRAMES - 1));
        return 0;
    }
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_size);
    REQUIRE(pthread_create(&thread, &attributes, thread_main, NULL) == 0);
    pthread_join(thread, NULL);

    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = stack_size;
    REQUIRE(setrlimit(RLIMIT_STACK, &limit) == 0);
    fflush(stdout);
    execl(argv[0], argv[0], "main", (char *)NULL);
    return 1;
}
