#include "service/stacks/linux/stack_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/base/file.h"
#include "service/traces/part_file.h"

#define NAME_ATTEMPTS 10000
#define LEAST_KEPT    64 /* bytes: less is written again */

static void name_stacks(char name[TRACE_FILE_NAME_SIZE + 8], const char *trace)
{
    size_t stem = strlen(trace) - strlen(".bin");

    snprintf(name, TRACE_FILE_NAME_SIZE + 8, "%.*s" STACKS_SUFFIX, (int)stem, trace);
}

/* A file of a name that neither it nor the trace has. Returns -1, errno set. */
static int take_name(struct stack_file *file, int directory, struct trace_header *header)
{
    char name[TRACE_FILE_NAME_SIZE + 8];

    for (int i = 0; i < NAME_ATTEMPTS; i++, header->session++) {
        int fd;

        trace_file_name(file->name, header);
        if (faccessat(directory, file->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            continue;
        name_stacks(name, file->name);
        fd = file_create(directory, name);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* What is wrong first is what is told. */
static void put(struct stack_file *file, const void *bytes, size_t size)
{
    if (size && fwrite(bytes, size, 1, file->stream) != 1 && !file->error)
        file->error = errno;
}

bool stack_file_begin(struct stack_file *file, const struct trace_dir *directory,
                      struct trace_header *header, uint32_t period_ns, bool is_of_user)
{
    int fd = take_name(file, directory->fd, header);

    file->header = (struct stacks_header){
        .magic = STACKS_MAGIC, /* its terminating zero has no room */
        .version = STACKS_VERSION,
        .pid = header->pid,
        .created_ns = header->created_ns,
        .period_ns = period_ns,
        .user_only = is_of_user,
    };
    file->stream = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!file->stream) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        errno = error;
        return false;
    }
    file->error = 0;
    put(file, &file->header, sizeof(file->header));
    return true;
}

static void pad(struct stack_file *file, size_t size)
{
    static const char zeros[8];

    put(file, zeros, -size % 8);
}

void stack_file_map(struct stack_file *file, const struct stack_event *map)
{
    size_t path_size = strlen(map->name) + 1, size = sizeof(struct stacks_map) + path_size;
    struct stacks_map record = {
        .head = {STACKS_MAP, (uint32_t)((size + 7) / 8 * 8)},
        .address = map->address,
        .length = map->length,
        .offset = map->offset,
        .build_id_size = map->build_id_size,
    };

    memcpy(record.build_id, map->build_id, sizeof(record.build_id));
    put(file, &record, sizeof(record));
    put(file, map->name, path_size);
    pad(file, size);
}

/* The end of what both dumps have, from which downwards they are the same for `kept` bytes. A
   program may keep anything in its stack pointer: then there is no dump, and the two are far apart.
 */
static void compare(const struct stack_event *sample, const struct stack_dump *last, uint64_t *end,
                    uint64_t *kept)
{
    uint64_t low = sample->registers[STACKS_RSP], high = low + sample->stack_size;
    uint64_t last_high = last->address + last->size;

    *end = high < last_high ? high : last_high;
    *kept = 0;
    if (!last->bytes || (low - last->address) % 8)
        return;
    if (low < last->address)
        low = last->address;
    if (*end < low)
        return;
    while (*end - *kept - low >= 8 &&
           memcmp(sample->stack + (*end - *kept - 8 - sample->registers[STACKS_RSP]),
                  last->bytes + (*end - *kept - 8 - last->address), 8) == 0)
        *kept += 8;
}

static void remember(struct stack_dump *last, const struct stack_event *sample)
{
    if (!last->bytes)
        last->bytes = malloc(STACKS_MOST_STACK);
    if (!last->bytes)
        return;
    last->address = sample->registers[STACKS_RSP];
    last->size = sample->stack_size;
    if (sample->stack_size)
        memcpy(last->bytes, sample->stack, sample->stack_size);
}

void stack_file_sample(struct stack_file *file, const struct stack_event *sample,
                       struct stack_dump *last)
{
    uint64_t low = sample->registers[STACKS_RSP], size = sample->stack_size;
    struct stacks_sample record = {
        .tid = sample->tid,
        .flags = sample->is_in_kernel ? STACKS_IN_KERNEL : 0,
        .time = sample->time,
    };
    uint64_t end, kept;

    compare(sample, last, &end, &kept);
    if (kept < LEAST_KEPT) {
        kept = 0;
        end = low + size;
    }
    memcpy(record.registers, sample->registers, sizeof(record.registers));
    record.low = (uint32_t)(end - kept - low);
    record.kept = (uint32_t)kept;
    record.high = (uint32_t)(low + size - end);
    record.head = (struct stacks_record){STACKS_SAMPLE,
                                         (uint32_t)(sizeof(record) + record.low + record.high)};
    put(file, &record, sizeof(record));
    put(file, sample->stack, record.low);
    put(file, sample->stack + record.low + record.kept, record.high);
    file->header.taken++;
    remember(last, sample);
}

union block {
    unsigned char units[TRACE_BLOCK_UNITS][TRACE_UNIT];
    struct trace_block head;
};

/* A block a thread: its record, and a root without calls. */
static bool write_thread(int trace, const struct trace_thread *thread, uint64_t at)
{
    union block block = {{{0}}};
    struct trace_thread record = *thread;
    struct trace_node root = {0};

    block.head = (struct trace_block){
        .kind = TRACE_BLOCK_THREAD, .thread = thread->ordinal, .used = TRACE_FIRST_NODE + 1};
    record.root = root.context = (uint32_t)(at / TRACE_UNIT + TRACE_FIRST_NODE);
    record.nodes = 1;
    memcpy(block.units[1], &record, sizeof(record));
    memcpy(block.units[TRACE_FIRST_NODE], &root, sizeof(root));
    return file_write_at(trace, &block, sizeof(block), at);
}

static bool write_trace(const struct stack_file *file, int directory, struct trace_header *header,
                        const struct trace_thread *threads, size_t thread_count)
{
    unsigned char page[TRACE_HEADER_SIZE] = {0};
    struct part_file part;
    uint64_t at = TRACE_HEADER_SIZE;
    bool ok;

    if (!part_file_begin(&part, directory, file->name))
        return false;
    ok = true;
    for (size_t i = 0; i < thread_count && ok; i++, at += TRACE_BLOCK_SIZE)
        ok = write_thread(part.fd, &threads[i], at);
    header->used = header->capacity = at;
    header->thread_count = (uint32_t)thread_count;
    memcpy(page, header, sizeof(*header));
    if (ok && file_write_at(part.fd, page, sizeof(page), 0))
        return part_file_finish(&part, file->name);
    part_file_abandon(&part);
    return false;
}

bool stack_file_end(struct stack_file *file, const struct trace_dir *directory,
                    struct trace_header *header, const struct trace_thread *threads,
                    size_t thread_count)
{
    char name[TRACE_FILE_NAME_SIZE + 8];
    bool ok = fseek(file->stream, 0, SEEK_SET) == 0 &&
              fwrite(&file->header, sizeof(file->header), 1, file->stream) == 1 &&
              !ferror(file->stream);
    int error = errno;

    if (fclose(file->stream) != 0 && ok) {
        ok = false;
        error = errno;
    }
    file->stream = NULL;
    if (ok && write_trace(file, directory->fd, header, threads, thread_count))
        return true;
    if (file->error)
        error = file->error;
    else if (ok)
        error = errno;
    name_stacks(name, file->name);
    unlinkat(directory->fd, name, 0);
    errno = error;
    return false;
}
