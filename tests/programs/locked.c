/*
 * locked: locks its memory, and says after each step what came of it.
 *
 *      ./locked STEP…
 *
 *      lock=FLAGS      mlockall: 1 what is mapped, 2 what will be, 4 when it is touched
 *      direct=FLAGS    the same by syscall(), which nobody sees
 *      library=FLAGS   the same in liblocking.so
 *      load            loads that
 *      unlock          munlockall
 *      limit=KIB       of RLIMIT_MEMLOCK
 *      unprivileged    gives up CAP_IPC_LOCK
 *      work            calls in thousands of contexts, and 20,000 deep
 *      threads=N       of 64 KiB of stack each; they work, and stay
 *      race=N          locks so often, in several ways, while threads begin and end
 *      map=KIB         memory, touched
 *      fork            a child takes the further steps
 *
 * A line for each: the step, its result, errno, VmLck, VmRSS and VmSize in KiB.
 */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifndef WITHOUT_LIBRARIES
#include <dlfcn.h>
#endif

#define LEVELS 12
#define DEPTH  20000

#define IPC_LOCK (1u << 14) /* the capability */

static long status_of(const char *name)
{
    static char text[1 << 14];
    const char *line;
    FILE *file = fopen("/proc/self/status", "r");

    REQUIRE(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    line = strstr(text, name);
    REQUIRE(line);
    return strtol(line + strlen(name), NULL, 10);
}

static COUNTED long branch(long levels)
{
    long left = 0, right = 0;

    if (levels > 1) {
        left = branch(levels - 1);
        OPAQUE(left);
        right = branch(levels - 1);
        OPAQUE(right);
    }
    return left + right + 1;
}

static COUNTED long descend(long depth)
{
    long below = depth > 1 ? descend(depth - 1) : 0;

    OPAQUE(below);
    return below + 1;
}

static int work(void)
{
    return branch(LEVELS) == (1 << LEVELS) - 1 && descend(DEPTH) == DEPTH ? 0 : -1;
}

static void *thread_main(void *begun)
{
    REQUIRE(branch(LEVELS) == (1 << LEVELS) - 1);
    pthread_barrier_wait(begun);
    for (;;)
        pause();
    return NULL;
}

static int begin_thread(pthread_t *thread, void *(*run)(void *), void *with)
{
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 16);
    return pthread_create(thread, &attributes, run, with);
}

static int begin_threads(long count)
{
    pthread_barrier_t *begun = malloc(sizeof(*begun));
    pthread_t thread;
    int error;

    pthread_barrier_init(begun, NULL, (unsigned)count + 1);
    for (long i = 0; i < count; i++) {
        error = begin_thread(&thread, thread_main, begun);
        errno = error;
        if (error)
            return -1;
    }
    pthread_barrier_wait(begun);
    usleep(200000); /* for the threads to come to rest: exit() in the middle of a call is no matter
                       of this test */
    return 0;
}

static volatile bool is_over;

static void *short_thread(void *unused)
{
    REQUIRE(branch(LEVELS / 2) == (1 << LEVELS / 2) - 1);
    return unused;
}

static void *begin_and_end(void *unused)
{
    pthread_t thread;

    while (!is_over)
        if (begin_thread(&thread, short_thread, NULL) == 0)
            pthread_join(thread, NULL);
    return unused;
}

/* Returns how often it failed. */
static int race(long rounds)
{
    static const int flags[] = {1, 3, 7, 5, 2};
    pthread_t threads[2];
    int failures = 0;

    for (int i = 0; i < 2; i++)
        REQUIRE(begin_thread(&threads[i], begin_and_end, NULL) == 0);
    for (long i = 0; i < rounds; i++) {
        failures += mlockall(flags[i % 5]) != 0;
        if (i % 3 == 0)
            failures += munlockall() != 0;
    }
    is_over = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    errno = 0;
    return failures;
}

/* <linux/capability.h> has this, which not every C library comes with. */
static int give_up_privilege(void)
{
    struct {
        uint32_t version;
        int pid;
    } header = {.version = 0x20080522};
    struct {
        uint32_t effective, permitted, inheritable;
    } sets[2];

    if (syscall(SYS_capget, &header, sets))
        return -1;
    sets[0].effective &= ~IPC_LOCK;
    sets[0].permitted &= ~IPC_LOCK;
    return (int)syscall(SYS_capset, &header, sets);
}

static int map(long kib)
{
    char *memory =
        mmap(NULL, (size_t)kib << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return -1;
    memset(memory, 1, (size_t)kib << 10);
    return 0;
}

#ifdef WITHOUT_LIBRARIES
static int lock_in_library(int flags)
{
    return mlockall(flags);
}

static int load(void)
{
    return 0;
}
#else
static int lock_in_library(int flags)
{
    int (*lock)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "library_locks");

    REQUIRE(lock);
    return lock(flags);
}

static int load(void)
{
    return dlopen("./liblocking.so", RTLD_NOW | RTLD_GLOBAL) ? 0 : -1;
}
#endif

/* In the child 0; the parent ends as it does. */
static int go_on_in_child(void)
{
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child <= 0)
        return child;
    waitpid(child, &status, 0);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

static int take(const char *step, long number)
{
    if (!strncmp(step, "lock=", 5))
        return mlockall((int)number);
    if (!strncmp(step, "direct=", 7))
        return (int)syscall(SYS_mlockall, number);
    if (!strncmp(step, "library=", 8))
        return lock_in_library((int)number);
    if (!strncmp(step, "limit=", 6))
        return setrlimit(RLIMIT_MEMLOCK,
                         &(struct rlimit){(rlim_t)number << 10, (rlim_t)number << 10});
    if (!strncmp(step, "threads=", 8))
        return begin_threads(number);
    if (!strncmp(step, "race=", 5))
        return race(number);
    if (!strncmp(step, "map=", 4))
        return map(number);
    if (!strcmp(step, "load"))
        return load();
    if (!strcmp(step, "unlock"))
        return munlockall();
    if (!strcmp(step, "unprivileged"))
        return give_up_privilege();
    if (!strcmp(step, "work"))
        return work();
    REQUIRE(!strcmp(step, "fork"));
    return go_on_in_child();
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *number = strchr(argv[i], '=');
        int result, error;

        errno = 0;
        result = take(argv[i], number ? atol(number + 1) : 0);
        error = errno;
        printf("%s %d %d %ld %ld %ld\n", argv[i], result, error, status_of("VmLck:"),
               status_of("VmRSS:"), status_of("VmSize:"));
    }
    return 0;
}
