/*
 * footprint: how much memory it has, before and while it has made something of: threads that are at
 * rest, calling contexts, or live calls.
 *
 *      ./footprint threads N | contexts LEVELS | frames N
 *
 * Prints the number of them (of LEVELS 2^LEVELS - 1), and what became more, in bytes: resident,
 * its share of what is resident (pages mapped several times count once), address space.
 */
#include "program.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct memory {
    long resident, share, space;
};

/* The value behind name in the file, in bytes: it is in KiB there. */
static long value_in(const char *path, const char *name)
{
    static char text[1 << 16];
    const char *line;
    ssize_t size;
    int file = open(path, O_RDONLY);

    REQUIRE(file >= 0);
    size = read(file, text, sizeof(text) - 1);
    close(file);
    REQUIRE(size > 0);
    text[size] = 0;
    line = strstr(text, name);
    REQUIRE(line);
    return strtol(line + strlen(name), NULL, 10) * 1024;
}

static struct memory memory_now(void)
{
    return (struct memory){value_in("/proc/self/smaps_rollup", "\nRss:"),
                           value_in("/proc/self/smaps_rollup", "\nPss:"),
                           value_in("/proc/self/status", "VmSize:")};
}

static struct memory before, at;

static COUNTED long step(long x)
{
    OPAQUE(x);
    return x + 1;
}

static pthread_barrier_t all_rest, all_end;

static void *thread_main(void *argument)
{
    step((long)argument);
    pthread_barrier_wait(&all_rest);
    pthread_barrier_wait(&all_end);
    return NULL;
}

static void rest(long count)
{
    pthread_t *threads = calloc((size_t)count + 1, sizeof(*threads));
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 16);
    pthread_barrier_init(&all_rest, NULL, (unsigned)count + 1);
    pthread_barrier_init(&all_end, NULL, (unsigned)count + 1);
    before = memory_now();
    for (long i = 0; i < count; i++)
        REQUIRE(pthread_create(&threads[i], &attributes, thread_main, (void *)i) == 0);
    pthread_barrier_wait(&all_rest);
    at = memory_now();
    pthread_barrier_wait(&all_end);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* Two functions that each call both: a context for each path. */
static long branch_right(long levels);

static COUNTED long branch(long levels)
{
    long left = 0, right = 0;

    if (levels > 1) {
        left = branch(levels - 1);
        OPAQUE(left);
        right = branch_right(levels - 1);
        OPAQUE(right);
    }
    return left + right + 1;
}

static COUNTED long branch_right(long levels)
{
    long left = 0, right = 0;

    if (levels > 1) {
        left = branch(levels - 1);
        OPAQUE(left);
        right = branch_right(levels - 1);
        OPAQUE(right);
    }
    return left + right + 1;
}

static COUNTED long descend(long depth)
{
    long below = 0;

    if (depth > 1)
        below = descend(depth - 1);
    else
        at = memory_now();
    OPAQUE(below);
    return below + 1;
}

int main(int argc, char **argv)
{
    long number = argc == 3 ? atol(argv[2]) : 0;

    REQUIRE(number > 0);
    step(memory_now().space); /* what is made once is there */
    before = memory_now();
    if (!strcmp(argv[1], "threads"))
        rest(number);
    else if (!strcmp(argv[1], "frames"))
        REQUIRE(descend(number) == number);
    else {
        number = branch(number);
        at = memory_now();
    }
    printf("%ld %ld %ld %ld\n", number, at.resident - before.resident, at.share - before.share,
           at.space - before.space);
    fprintf(stderr, "%ld %ld %ld\n", before.resident, before.share, before.space);
}
