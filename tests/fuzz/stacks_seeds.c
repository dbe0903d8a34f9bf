/*
 * Whole stacks as the service writes them, read as the grinder reads them: each dump must come out
 * as it went in. With a folder as argument the files stay in it, the seeds of stacks_fuzz.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grinder/unwind/stacks_file.h"
#include "service/stacks/linux/stack_file.h"

#define FILES   4
#define SAMPLES 60
#define THREADS 3
#define SPACE   (STACKS_MOST_STACK / 8 + 100) /* words of a thread's stack */
#define BOTTOM  0x7ffe00000000u

struct thread {
    uint64_t words[SPACE];
    struct stack_dump last;
};

/* What is to be found again. */
struct dump {
    uint32_t tid;
    uint64_t address, time;
    size_t size;
    unsigned char *bytes;
};

static void require(bool is_true, const char *what, unsigned file, size_t sample)
{
    if (is_true)
        return;
    fprintf(stderr, "file %u, sample %zu: %s\n", file, sample, what);
    exit(1);
}

/* Some words change, anywhere or at the end where they often do; where it begins and ends as well.
   At times the stack pointer leads elsewhere. */
static struct dump take_sample(struct stack_file *file, struct thread *threads, uint64_t time)
{
    uint32_t number = (uint32_t)random() % THREADS;
    struct thread *thread = &threads[number];
    size_t begin = (size_t)random() % 200;
    size_t count = (size_t)random() % 12 ? (size_t)random() % 150
                                         : (size_t)random() % (STACKS_MOST_STACK / 8 + 1);
    bool is_elsewhere = random() % 16 == 0;
    uint64_t registers[STACKS_REGISTERS] = {
        [STACKS_RSP] = is_elsewhere ? 0 - (uint64_t)(random() % 4) * 4 : BOTTOM + 8 * begin};
    struct dump dump = {.tid = 100 + number, .address = registers[STACKS_RSP], .time = time};
    struct stack_event event = {
        .kind = STACK_EVENT_SAMPLE, .tid = dump.tid, .time = time, .registers = registers};

    for (int changes = (int)(random() % 4); changes > 0; changes--)
        thread->words[random() % 2 ? begin : (size_t)random() % SPACE] = (uint64_t)random();
    if (begin + count > SPACE)
        count = SPACE - begin;
    dump.size = event.stack_size = is_elsewhere ? 0 : 8 * count;
    event.stack = (const unsigned char *)&thread->words[begin];
    dump.bytes = malloc(dump.size + 1);
    if (!dump.bytes)
        exit(1);
    memcpy(dump.bytes, event.stack, dump.size);
    stack_file_sample(file, &event, &thread->last);
    return dump;
}

static void read_again(const char *path, struct dump *dumps, unsigned number)
{
    struct stacks_file file;
    struct stacks_mapping mapping = {0};
    struct stacks_sample sample;
    const struct stacks_dump *dump;
    struct failure failure;

    require(stacks_file_open(&file, path, &failure), "is not opened", number, 0);
    require(file.header.taken == SAMPLES, "another number of samples", number, 0);
    require(stacks_file_next(&file, &mapping, &sample, &dump) == STACKS_MAP &&
                !strcmp(mapping.path, "/bin/program") && mapping.address == 0x400000 &&
                mapping.length == 0x1000 && mapping.offset == 0x2000 && mapping.build_id_size == 2,
            "another map", number, 0);
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct dump *wanted = &dumps[i];
        require(stacks_file_next(&file, &mapping, &sample, &dump) == STACKS_SAMPLE, "is missing",
                number, i);
        require(sample.tid == wanted->tid && sample.time == wanted->time &&
                    dump->address == wanted->address && dump->size == wanted->size,
                "another sample", number, i);
        require(!memcmp(dump->bytes ? (void *)dump->bytes : "", wanted->bytes, wanted->size),
                "another stack", number, i);
        free(wanted->bytes);
    }
    require(!stacks_file_next(&file, &mapping, &sample, &dump), "more than was written", number,
            SAMPLES);
    stacks_file_close(&file);
}

/* Returns the file's size. */
static size_t make_file(const struct trace_dir *directory, unsigned number, bool is_kept)
{
    const struct stack_event map = {.name = "/bin/program",
                                    .address = 0x400000,
                                    .length = 0x1000,
                                    .offset = 0x2000,
                                    .build_id_size = 2};
    const struct trace_thread record = {.ordinal = 1};
    struct trace_header header = {.exe = "seed", .pid = 1, .session = number, .created_ns = 7};
    struct thread *threads = calloc(THREADS, sizeof(*threads));
    struct dump dumps[SAMPLES];
    struct stack_file file;
    struct stat status = {0};
    char path[4200];

    srandom(number);
    if (!threads || !stack_file_begin(&file, directory, &header, 1000000, true))
        require(false, "cannot be made", number, 0);
    stack_file_map(&file, &map);
    for (size_t i = 0; i < SAMPLES; i++)
        dumps[i] = take_sample(&file, threads, 1000 * i);
    require(stack_file_end(&file, directory, &header, &record, 1), "is not completed", number, 0);
    for (size_t i = 0; i < THREADS; i++)
        free(threads[i].last.bytes);
    free(threads);
    snprintf(path, sizeof(path), "%s/seed-1-%u.stacks", directory->path, number);
    read_again(path, dumps, number);
    stat(path, &status);
    if (!is_kept)
        unlink(path);
    snprintf(path, sizeof(path), "%s/seed-1-%u.bin", directory->path, number);
    unlink(path);
    return (size_t)status.st_size;
}

int main(int count, char **arguments)
{
    char made[] = "/tmp/umbra-stacks-XXXXXX";
    struct trace_dir directory = {.path = count > 1 ? arguments[1] : mkdtemp(made)};
    size_t size = 0;

    directory.fd = directory.path ? open(directory.path, O_RDONLY | O_DIRECTORY) : -1;
    require(directory.fd >= 0, "no folder", 0, 0);
    for (unsigned i = 1; i <= FILES; i++)
        size += make_file(&directory, i, count > 1);
    close(directory.fd);
    if (count == 1)
        rmdir(made);
    printf("%d samples in %zu bytes\n", FILES * SAMPLES, size);
    return 0;
}
