/*
 * What a program may do to those who sample its stack:
 *
 *      pointer       computes with a stack pointer that leads nowhere
 *      crowd N       N processes that live at the same time, each with time in samples
 *      names FILE    names of its thread and of files that it maps, copies of FILE, with control
 * characters; one whose path is longer than a path may be code FILE     maps FILE's code 600 times,
 * each at another place
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void compute(int ms)
{
    clock_t end = clock() + (clock_t)ms * (CLOCKS_PER_SEC / 1000);

    while (clock() < end)
        for (int i = 0; i < 1000; i++)
            sink += (unsigned long)i;
}

static int lead_nowhere(void)
{
    static const unsigned long pointers[] = {-8ul, 0, 1ul << 63, 0x1000};

    for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
        unsigned long count = 20000000, own;
        compute(5);
        __asm__ volatile("mov %%rsp, %1\n"
                         "mov %2, %%rsp\n"
                         "1: dec %0\n"
                         "jnz 1b\n"
                         "mov %1, %%rsp\n"
                         : "+r"(count), "=&r"(own)
                         : "r"(pointers[i])
                         : "cc", "memory");
    }
    return 0;
}

/* All end when the first one closes the pipe. */
static int be_many(int count)
{
    int ends[2], ready[2];
    char byte = 0;

    if (pipe(ends) < 0 || pipe(ready) < 0)
        return 1;
    for (int i = 0; i < count; i++) {
        if (fork() == 0) {
            close(ends[1]);
            compute(5);
            if (write(ready[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 0)
                _exit(1);
            _exit(0);
        }
    }
    for (int i = 0; i < count; i++)
        if (read(ready[0], &byte, 1) != 1)
            return 1;
    close(ends[1]);
    while (wait(NULL) > 0)
        ;
    return 0;
}

static int map_copy(const char *name, const void *bytes, size_t size)
{
    int file = open(name, O_CREAT | O_RDWR | O_TRUNC, 0700);

    return file < 0 || write(file, bytes, size) != (ssize_t)size ||
           mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED;
}

static int have_names(const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY);
    void *bytes;
    char folder[241];

    memset(folder, 'd', 240);
    folder[240] = 0;
    if (file < 0 || fstat(file, &status) < 0)
        return 1;
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED || prctl(PR_SET_NAME, "a\nb\033[31m\xff") < 0 ||
        map_copy("new\nline.so", bytes, (size_t)status.st_size) ||
        map_copy("escape\033]0;x\a\xff.so", bytes, (size_t)status.st_size))
        return 1;
    for (int i = 0; i < 18; i++)
        if (mkdir(folder, 0700) < 0 || chdir(folder) < 0)
            return 1;
    if (map_copy("deep.so", bytes, (size_t)status.st_size))
        return 1;
    compute(20);
    return 0;
}

static int map_code(const char *path)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    int file = open(path, O_RDONLY);

    if (file < 0 || pread(file, &header, sizeof(header), 0) != sizeof(header))
        return 1;
    for (int i = 0; i < header.e_phnum; i++) {
        off_t at = (off_t)(header.e_phoff + (unsigned)i * sizeof(segment));
        if (pread(file, &segment, sizeof(segment), at) != sizeof(segment))
            return 1;
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_X)
            break;
    }
    for (int i = 0; i < 600; i++)
        if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file,
                 (off_t)(segment.p_offset & ~0xffful)) == MAP_FAILED)
            return 1;
    compute(20);
    return 0;
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "";

    if (!strcmp(mode, "pointer"))
        return lead_nowhere();
    if (!strcmp(mode, "crowd"))
        return be_many(atoi(arguments[2]));
    if (!strcmp(mode, "names"))
        return have_names(arguments[2]);
    return map_code(arguments[2]);
}
