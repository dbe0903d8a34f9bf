#include "service/attach/linux/attach_stacks.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/attach/linux/address_space.h"
#include "support/whole_file.h"
#include "trace/stacks_format.h"

#define MOST_BYTES  (16u << 20) /* of all stacks: copying takes 0.2 ms a MB, and all stand */
#define LEAST_STACK 4096u

struct taken_stack {
    struct stacks_sample sample;
    unsigned char *bytes; /* sample.low of them */
};

static void take_registers(struct stacks_sample *sample, const struct user_regs_struct *registers)
{
    const uint64_t in_order[STACKS_REGISTERS] = {
        registers->rax, registers->rdx, registers->rcx, registers->rbx, registers->rsi,
        registers->rdi, registers->rbp, registers->rsp, registers->r8,  registers->r9,
        registers->r10, registers->r11, registers->r12, registers->r13, registers->r14,
        registers->r15, registers->rip};

    memcpy(sample->registers, in_order, sizeof(in_order));
}

/* Up to where the stack ends, or as much as may be taken. */
static bool take(struct taken_stack *stack, int memory, const struct tracee *tracee, size_t most)
{
    struct user_regs_struct registers;
    ssize_t size;

    *stack = (struct taken_stack){.sample.tid = (uint32_t)tracee->tid};
    if (!tracee_registers(tracee, &registers) || registers.rsp % 8)
        return false;
    stack->bytes = malloc(most);
    size = stack->bytes ? pread(memory, stack->bytes, most, (off_t)registers.rsp) : -1;
    if (size <= 0) {
        free(stack->bytes);
        return false;
    }
    take_registers(&stack->sample, &registers);
    stack->sample.low = (uint32_t)size & ~7u;
    return true;
}

void taken_stacks_take(struct taken_stacks *stacks, int memory, const struct tracees *tracees)
{
    size_t most = tracees->count ? MOST_BYTES / tracees->count & ~(size_t)7 : 0;

    *stacks = (struct taken_stacks){.items = calloc(tracees->count + 1, sizeof(*stacks->items))};
    if (most > STACKS_MOST_STACK)
        most = STACKS_MOST_STACK;
    if (most < LEAST_STACK)
        most = LEAST_STACK;
    for (size_t i = 0; stacks->items && i < tracees->count; i++)
        stacks->count += take(&stacks->items[stacks->count], memory, &tracees->items[i], most);
}

void taken_stacks_free(struct taken_stacks *stacks)
{
    for (size_t i = 0; i < stacks->count; i++)
        free(stacks->items[i].bytes);
    free(stacks->items);
    *stacks = (struct taken_stacks){0};
}

static void write_record(FILE *stream, void *record, size_t record_size, const void *bytes,
                         size_t size)
{
    static const char zeros[8];
    struct stacks_record *head = record;

    head->size = (uint32_t)((record_size + size + 7) / 8 * 8);
    fwrite(record, record_size, 1, stream);
    fwrite(bytes, 1, size, stream);
    fwrite(zeros, 1, -(record_size + size) % 8, stream);
}

static void write_mappings(FILE *stream, const struct address_space *space)
{
    for (size_t i = 0; i < space->count; i++) {
        const struct address_range *range = &space->ranges[i];
        struct stacks_map map = {.head.kind = STACKS_MAP,
                                 .address = range->start,
                                 .length = range->end - range->start,
                                 .offset = range->offset};

        if (range->is_executable && strlen(range->path) < PATH_MAX)
            write_record(stream, &map, sizeof(map), range->path, strlen(range->path) + 1);
    }
}

static void write_all(FILE *stream, const struct taken_stacks *stacks, pid_t pid,
                      const struct address_space *space)
{
    const struct stacks_header header = {.magic = STACKS_MAGIC,
                                         .version = STACKS_VERSION,
                                         .pid = (uint32_t)pid,
                                         .period_ns = 1,
                                         .taken = stacks->count};

    fwrite(&header, sizeof(header), 1, stream);
    write_mappings(stream, space);
    for (size_t i = 0; i < stacks->count; i++) {
        struct stacks_sample sample = stacks->items[i].sample;

        sample.head.kind = STACKS_SAMPLE;
        write_record(stream, &sample, sizeof(sample), stacks->items[i].bytes, sample.low);
    }
}

bool taken_stacks_write(const struct taken_stacks *stacks, pid_t pid, const char *folder,
                        struct failure *failure)
{
    char path[PATH_MAX];
    struct address_space space;
    struct whole_file file;
    FILE *stream;
    bool is_written;

    if (snprintf(path, sizeof(path), "%s/" STACKS_UNDER_WAY, folder) >= PATH_MAX)
        return fail(failure, folder, "its path is too long");
    if (!address_space_read(&space, pid, failure))
        return false;
    if (whole_file_begin(&file, path, 0666)) {
        address_space_free(&space);
        return fail(failure, path, "cannot write it: %s", strerror(errno));
    }
    stream = fdopen(dup(file.fd), "wb");
    if (stream)
        write_all(stream, stacks, pid, &space);
    address_space_free(&space);
    is_written = stream && !ferror(stream);
    is_written = stream && fclose(stream) == 0 && is_written && whole_file_commit(&file) == 0;
    if (!is_written) {
        fail(failure, path, "cannot write it: %s", strerror(errno));
        whole_file_abandon(&file);
    }
    close(file.fd);
    return is_written;
}
