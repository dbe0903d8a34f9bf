/*
 * Feeds a harness with mutations of seed files where there is no libFuzzer: the same ones for the
 * same --seed, each with a limit on time and memory.
 *
 *      parent ──fork──> child: mutation n, n+1, n+2 ... of a seed file
 *                         └─> case number, in shared memory
 *
 * A case that ends the child is reported by the parent, kept as a file, and the next child goes
 * on behind it. The memory of a case is the child's peak, which only rises: whoever lifts it past
 * the limit is the culprit.
 */
#include "tests/fuzz/harness.h"

#include <elf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIME_LIMIT    10 /* seconds for a case */
#define MEMORY_BASE   (64ull << 20)
#define MEMORY_RATE   8 /* times the file's size */
#define MAX_CHANGES   6 /* of one kind or another in a case */
#define GROWTH        4096
#define SHARED_MEMORY (PROT_READ | PROT_WRITE), (MAP_SHARED | MAP_ANONYMOUS)

#if defined __SANITIZE_ADDRESS__
#define IS_SANITIZED true
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

struct input {
    const char *path;
    uint8_t *bytes;
    size_t size;
};

struct progress {
    unsigned long at; /* the case being tried */
    size_t size;      /* of its input */
    long peak;        /* KB */
};

static unsigned long count = 2000, first_seed = 1;
static struct progress *progress;

/* splitmix64: any state will do. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t limit)
{
    return limit ? next_random(state) % limit : 0;
}

/* Part of a file that decides how the rest is read. */
struct area {
    size_t at, size;
};

static struct area clip(const struct input *file, uint64_t at, uint64_t size)
{
    if (at >= file->size)
        return (struct area){0, file->size};
    return (struct area){at, size < file->size - at ? size : file->size - at};
}

static uint32_t word_at(const struct input *file, uint64_t at)
{
    uint32_t word = 0;

    if (at <= file->size && file->size - at >= sizeof(word))
        memcpy(&word, file->bytes + at, sizeof(word));
    return word;
}

/* Its header, its tables, one of its sections. */
static struct area elf_area(uint64_t *state, const struct input *file, size_t kind)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    uint64_t at;

    memcpy(&header, file->bytes, sizeof(header));
    if (kind == 1)
        return clip(file, 0, sizeof(header));
    if (kind == 2)
        return clip(file, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
    if (kind == 3)
        return clip(file, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
    at = header.e_shoff + below(state, header.e_shnum) * sizeof(section);
    if (header.e_shoff > file->size || at > file->size || file->size - at < sizeof(section))
        return (struct area){0, file->size};
    memcpy(&section, file->bytes + at, sizeof(section));
    return clip(file, section.sh_offset, section.sh_size);
}

/* Its header, its sections' headers, its symbols, the start of one of its sections. */
static struct area pe_area(uint64_t *state, const struct input *file, size_t kind)
{
    uint64_t header = word_at(file, 60) + 4ull;
    uint64_t sections = header + 20 + (word_at(file, header + 16) & 0xffff);
    uint64_t count = word_at(file, header) >> 16;
    uint64_t section = sections + 40 * below(state, count);

    if (kind == 1)
        return clip(file, header, sections - header);
    if (kind == 2)
        return clip(file, sections, count * 40);
    if (kind == 3 && word_at(file, header + 8))
        return clip(file, word_at(file, header + 8), word_at(file, header + 12) * 18ull);
    return clip(file, word_at(file, section + 20), 256);
}

/* Its header, its directory of streams, the start of one of its blocks. */
static struct area pdb_area(uint64_t *state, const struct input *file, size_t kind)
{
    uint64_t block = word_at(file, 32), directory = word_at(file, word_at(file, 52) * block);

    if (kind == 1)
        return clip(file, 32, 24);
    if (kind == 2 || kind == 3)
        return clip(file, directory * block, word_at(file, 44));
    return clip(file, below(state, block ? file->size / block : 0) * block, 128);
}

/* A part that matters to the kind of file it is; else one of the 4096-byte blocks' heads. */
static struct area area_pick(uint64_t *state, const struct input *file)
{
    size_t kind = below(state, 6);

    if (kind == 0 || file->size < sizeof(Elf64_Ehdr))
        return (struct area){0, file->size};
    if (memcmp(file->bytes, ELFMAG, SELFMAG) == 0)
        return elf_area(state, file, kind);
    if (memcmp(file->bytes, "MZ", 2) == 0)
        return pe_area(state, file, kind);
    if (memcmp(file->bytes, "Microsoft C/C++ MSF", 19) == 0)
        return pdb_area(state, file, kind);
    return clip(file, below(state, file->size / 4096 + 1) * 4096, 256);
}

static void store_interesting(uint64_t *state, struct input *file, size_t at)
{
    static const uint64_t numbers[] = {
        0,
        1,
        2,
        7,
        8,
        0x7f,
        0x80,
        0xff,
        0x100,
        0xfff,
        0x1000,
        0x7fff,
        0x8000,
        0xffff,
        0x10000,
        0x7fffffff,
        0x80000000,
        0xffffffff,
        1ull << 32,
        1ull << 48,
        INT64_MAX,
        1ull << 63,
        UINT64_MAX,
        UINT64_MAX - 7,
        UINT64_MAX - 4095,
    };
    uint64_t number = numbers[below(state, sizeof(numbers) / sizeof(*numbers))];
    size_t width = (size_t)1 << below(state, 4);

    if (below(state, 4) == 0)
        number = file->size + below(state, 17) - 8;
    at -= at % width;
    if (file->size - at >= width)
        memcpy(file->bytes + at, &number, width);
}

static void add_to_word(uint64_t *state, struct input *file, size_t at)
{
    uint64_t number = 0;
    size_t width = (size_t)1 << below(state, 4);

    at -= at % width;
    if (file->size - at < width)
        return;
    memcpy(&number, file->bytes + at, width);
    number += below(state, 65) - 32;
    memcpy(file->bytes + at, &number, width);
}

static void copy_chunk(uint64_t *state, struct input *file, size_t at)
{
    size_t from = below(state, file->size), size = 1 + below(state, 256);
    size_t room = file->size - (from > at ? from : at);

    memmove(file->bytes + at, file->bytes + from, size < room ? size : room);
}

/* The file's buffer has room for GROWTH more. */
static void insert_chunk(uint64_t *state, struct input *file, size_t at, size_t original)
{
    size_t size = 8 * (1 + below(state, 16));

    if (file->size + size > original + GROWTH)
        return;
    memmove(file->bytes + at + size, file->bytes + at, file->size - at);
    file->size += size;
}

static void remove_chunk(uint64_t *state, struct input *file, size_t at)
{
    size_t size = 8 * (1 + below(state, 16));

    if (size >= file->size - at)
        return;
    memmove(file->bytes + at, file->bytes + at + size, file->size - at - size);
    file->size -= size;
}

static void change(uint64_t *state, struct input *file, size_t original)
{
    struct area area = area_pick(state, file);
    size_t at = area.at + below(state, area.size);

    if (at >= file->size)
        return;
    switch (below(state, 16)) {
    case 0:
    case 1:
    case 2:
        file->bytes[at] ^= (uint8_t)(1u << below(state, 8));
        break;
    case 3:
    case 4:
    case 5:
        file->bytes[at] = (uint8_t)next_random(state);
        break;
    case 6:
    case 7:
    case 8:
    case 9:
        store_interesting(state, file, at);
        break;
    case 10:
    case 11:
        add_to_word(state, file, at);
        break;
    case 12:
    case 13:
        copy_chunk(state, file, at);
        break;
    case 14:
        insert_chunk(state, file, at, original);
        break;
    default:
        if (below(state, 4) == 0)
            file->size = at ? at : 1;
        else
            remove_chunk(state, file, at);
        break;
    }
}

/* Case `number` of a seed file; to be freed. */
static struct input mutation(const struct input *seed, unsigned long number)
{
    struct input file = {seed->path, malloc(seed->size + GROWTH), seed->size};
    uint64_t state = first_seed * 0x9e3779b97f4a7c15 ^ number;

    if (!file.bytes)
        abort();
    memcpy(file.bytes, seed->bytes, seed->size);
    for (size_t i = number ? 1 + below(&state, MAX_CHANGES) : 0; i > 0; i--)
        change(&state, &file, seed->size);
    return file;
}

static long peak_memory(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void child(const struct input *seed)
{
    for (; progress->at < count; progress->at++) {
        struct input file = mutation(seed, progress->at);

        progress->size = file.size;
        alarm(TIME_LIMIT);
        LLVMFuzzerTestOneInput(file.bytes, file.size);
        alarm(0);
        free(file.bytes);
        progress->peak = peak_memory();
        if (!IS_SANITIZED &&
            (uint64_t)progress->peak << 10 > MEMORY_BASE + MEMORY_RATE * progress->size) {
            fprintf(stderr, "peak of %ld KB for a file of %zu bytes\n", progress->peak,
                    progress->size);
            _exit(3);
        }
    }
    exit(0); /* leaks are looked for at exit */
}

static void keep(const struct input *seed, const char *what)
{
    struct input file = mutation(seed, progress->at);
    const char *slash = strrchr(seed->path, '/');
    char name[512];
    FILE *out;

    snprintf(name, sizeof(name), "failed-%s-%lu-%lu", slash ? slash + 1 : seed->path, first_seed,
             progress->at);
    fprintf(stderr, "%s: case %lu %s; kept as %s\n", seed->path, progress->at, what, name);
    out = fopen(name, "w");
    if (!out || fwrite(file.bytes, 1, file.size, out) != file.size || fclose(out) != 0)
        perror(name);
    free(file.bytes);
}

static const char *ending(int status)
{
    static char text[64];

    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return "takes too long";
    if (WIFSIGNALED(status))
        snprintf(text, sizeof(text), "ends by signal %d", WTERMSIG(status));
    else
        snprintf(text, sizeof(text), "ends with status %d", WEXITSTATUS(status));
    return text;
}

/* Returns how many cases failed. */
static unsigned long campaign(const struct input *seed)
{
    unsigned long failed = 0;
    long peak = 0;
    int status;
    pid_t pid;

    *progress = (struct progress){0};
    while (progress->at < count && failed < 20) {
        fflush(NULL);
        pid = fork();
        if (pid == 0)
            child(seed);
        if (pid < 0 || waitpid(pid, &status, 0) < 0) {
            perror("fork");
            exit(1);
        }
        peak = progress->peak > peak ? progress->peak : peak;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            break;
        keep(seed, ending(status));
        progress->at++;
        failed++;
    }
    printf("%s: %lu cases, %lu failed, peak %.1f MB\n", seed->path, count, failed, peak / 1024.0);
    return failed;
}

static struct input input_read(const char *path)
{
    struct input input = {.path = path};
    FILE *file = fopen(path, "r");
    long size;

    if (!file || fseek(file, 0, SEEK_END) < 0 || (size = ftell(file)) <= 0) {
        perror(path);
        exit(2);
    }
    rewind(file);
    input.size = (size_t)size;
    input.bytes = malloc(input.size);
    if (!input.bytes || fread(input.bytes, 1, input.size, file) != input.size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    return input;
}

static int usage(const char *name)
{
    fprintf(stderr, "usage: %s [-n CASES] [-s SEED] FILE...\n", name);
    return 2;
}

int main(int argument_count, char **arguments)
{
    unsigned long failed = 0;
    int option;

    while ((option = getopt(argument_count, arguments, "n:s:")) != -1) {
        if (option == 'n')
            count = strtoul(optarg, NULL, 0);
        else if (option == 's')
            first_seed = strtoul(optarg, NULL, 0);
        else
            return usage(*arguments);
    }
    if (optind == argument_count)
        return usage(*arguments);
    progress = mmap(NULL, sizeof(*progress), SHARED_MEMORY, -1, 0);
    if (progress == MAP_FAILED)
        return 1;
    for (int i = optind; i < argument_count; i++) {
        struct input seed = input_read(arguments[i]);

        failed += campaign(&seed);
        free(seed.bytes);
    }
    printf("seed %lu: %lu failed\n", first_seed, failed);
    return failed ? 1 : 0;
}
