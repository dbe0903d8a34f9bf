/*
 * Counts its own calls in a file, in three threads, until it is killed:  counted FILE [HOW]
 *
 * HOW is the end it makes for itself after 20,000 rounds of the first thread, if it is to: _exit,
 * abort, overflow (of the stack), memory (until there is none), fault, exit.
 */
#define _GNU_SOURCE
#include "counted_calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS 20000

static struct counted_thread *counted;
static const char *how;

COUNTED void overflow(struct counted_thread *self, long *below)
{
    long here[64];

    here[0] = below ? below[0] + 1 : 0;
    OPAQUE(here[0]);
    CALL(self, overflow(self, here));
    OPAQUE(below);
}

COUNTED void take_memory(struct counted_thread *self)
{
    struct rlimit limit = {256 << 20, 256 << 20};

    setrlimit(RLIMIT_DATA, &limit);
    for (;;) {
        char *more = malloc(1 << 20);

        if (!more)
            abort();
        more[0] = 1;
        CALL(self, twice(self));
    }
}

COUNTED void end(struct counted_thread *self)
{
    if (!strcmp(how, "_exit"))
        _exit(3);
    if (!strcmp(how, "exit"))
        exit(3);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "fault"))
        *(volatile int *)16 = 1;
    if (!strcmp(how, "overflow"))
        CALL(self, overflow(self, 0));
    if (!strcmp(how, "memory"))
        CALL(self, take_memory(self));
}

COUNTED void *work(void *own)
{
    struct counted_thread *self = own;

    __atomic_store_n(&self->tid, (uint64_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    for (uint64_t i = 0;; i++) {
        CALL(self, deeper(self, (int)(i % 7)));
        if (how && self == counted && i == ROUNDS)
            CALL(self, end(self));
    }
    return 0;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    int file;

    REQUIRE(count >= 2);
    how = arguments[2];
    file = open(arguments[1], O_RDWR);
    REQUIRE(file >= 0);
    counted = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    REQUIRE(counted != MAP_FAILED);
    for (int i = 1; i < COUNTED_THREADS; i++)
        REQUIRE(pthread_create(&thread, 0, work, counted + i) == 0);
    work(counted);
}
