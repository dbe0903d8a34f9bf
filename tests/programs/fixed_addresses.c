/*
 * To be preloaded: a heap, maps and a thread's own address that are the same in every run, and
 * below the stack in valgrind as natively. For programs of one thread.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HEAP     ((char *)0x800000000)
#define MAPS     ((char *)0x900000000)
#define ROOM     ((size_t)1 << 32)
#define SELF     0x7ffff7d00740
#define PAGE     ((size_t)4096)
#define PRIVATES (MAP_PRIVATE | MAP_ANONYMOUS)

/* Two words, of which the first is the block's size; then the block. */
void *malloc(size_t size)
{
    static char *end;
    size_t *block;

    if (!end) {
        long got = syscall(SYS_mmap, HEAP, ROOM, PROT_READ | PROT_WRITE,
                           PRIVATES | MAP_NORESERVE | MAP_FIXED, -1, 0);
        if (got != (long)HEAP)
            _exit(99);
        end = HEAP;
    }
    block = (size_t *)end;
    *block = size;
    end += (size + 31) & ~(size_t)15;
    return block + 2;
}

void free(void *block)
{
    (void)block;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size);
}

void *realloc(void *old, size_t size)
{
    void *block = malloc(size);
    size_t had = old ? ((size_t *)old)[-2] : 0;

    if (old)
        memcpy(block, old, had < size ? had : size);
    return block;
}

void *mmap64(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    static char *end = MAPS;

    if (!address && (flags & PRIVATES) == PRIVATES && (protection & PROT_WRITE)) {
        address = end;
        end += (size + PAGE - 1) & ~(PAGE - 1);
        flags |= MAP_FIXED;
    }
    return (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

void *mmap(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap64")));

unsigned long pthread_self(void)
{
    return SELF;
}
