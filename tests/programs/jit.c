/*
 * Makes code at run time and calls functions through it, as a just-in-time compiler does, and tells
 * about it: jit map writes /tmp/perf-PID.map, jit dump jit-PID.dump in the working directory,
 * mapped so that it shows.
 *
 *      first(f, n)     calls f(n)
 *      second(f, n)    calls f(n); was somewhere else first
 */
#include "program.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const unsigned char code[] = {
    0x53,             /* push rbx */
    0x48, 0x89, 0xf8, /* mov  rax, rdi */
    0x48, 0x89, 0xf7, /* mov  rdi, rsi */
    0xff, 0xd0,       /* call rax */
    0x5b,             /* pop  rbx */
    0xc3,             /* ret */
};

typedef long made(long (*function)(long), long argument);

static made *first, *second;

COUNTED long callee(long n)
{
    OPAQUE(n);
    return n + 1;
}

COUNTED long nest(long n)
{
    n = first(callee, n);
    OPAQUE(n);
    return n + 1;
}

static void write_map(void)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    file = fopen(path, "w");
    REQUIRE(file);
    fprintf(file, "%lx %zx made: first\n", (unsigned long)first, sizeof code);
    fprintf(file, "%lx %zx made: second\n", (unsigned long)second, sizeof code);
    REQUIRE(fclose(file) == 0);
}

static void put(FILE *file, unsigned long value, size_t size)
{
    REQUIRE(fwrite(&value, size, 1, file) == 1);
}

static void put_record(FILE *file, unsigned id, size_t size)
{
    put(file, id, 4);
    put(file, 16 + size, 4);
    put(file, 1, 8);
}

static void put_line(FILE *file, const void *address, unsigned line)
{
    put(file, (unsigned long)address, 8);
    put(file, line, 4);
    put(file, 0, 4);
    fputs("made.js", file);
    putc(0, file);
}

static void put_load(FILE *file, const void *address, const char *name, unsigned id)
{
    put_record(file, 2, 16 + 2 * 24);
    put(file, (unsigned long)address, 8);
    put(file, 2, 8);
    put_line(file, address, 10 * id);
    put_line(file, (const char *)address + 7, 10 * id + 2);
    put_record(file, 0, 40 + strlen(name) + 1 + sizeof code);
    put(file, getpid(), 4);
    put(file, getpid(), 4);
    put(file, (unsigned long)address, 8);
    put(file, (unsigned long)address, 8);
    put(file, sizeof code, 8);
    put(file, id, 8);
    fputs(name, file);
    putc(0, file);
    REQUIRE(fwrite(code, sizeof code, 1, file) == 1);
}

static void put_move(FILE *file, const void *from, const void *to, unsigned id)
{
    put_record(file, 1, 48);
    put(file, getpid(), 4);
    put(file, getpid(), 4);
    put(file, (unsigned long)to, 8);
    put(file, (unsigned long)from, 8);
    put(file, (unsigned long)to, 8);
    put(file, sizeof code, 8);
    put(file, id, 8);
}

static void write_dump(void)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
    file = fopen(path, "w+");
    REQUIRE(file);
    put(file, 0x4a695444, 4);
    put(file, 1, 4);
    put(file, 40, 4);
    put(file, 62, 4);
    put(file, 0, 4);
    put(file, getpid(), 4);
    put(file, 0, 8);
    put(file, 0, 8);
    put_load(file, (const void *)first, "made: first", 1);
    put_load(file, (const char *)second + 256, "made: second", 2);
    put_move(file, (const char *)second + 256, (const void *)second, 2);
    put_record(file, 3, 0);
    REQUIRE(fflush(file) == 0);
    REQUIRE(mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) != MAP_FAILED);
    REQUIRE(fclose(file) == 0);
}

int main(int argc, char **argv)
{
    char *room = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long n = 0;

    REQUIRE(room != MAP_FAILED);
    first = (made *)memcpy(room + 16, code, sizeof code);
    second = (made *)memcpy(room + 64, code, sizeof code);
    REQUIRE(mprotect(room, 4096, PROT_READ | PROT_EXEC) == 0);
    if (argc > 1 && !strcmp(argv[1], "map"))
        write_map();
    else if (argc > 1)
        write_dump();
    for (int i = 0; i < 1000; i++)
        n = first(callee, n);
    for (int i = 0; i < 10; i++)
        n = second(nest, n);
    printf("%ld\n", n);
    return 0;
}
