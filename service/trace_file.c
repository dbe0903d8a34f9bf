#include "service/trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "service/file.h"
#include "service/message.h"

#define SMALLEST_CAPACITY (64u << 10)
#define LONGEST_EXE       80
#define NAME_ATTEMPTS     10000

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '+';
}

/* The exe's last part. */
static const char *base_name(const struct trace_header *header)
{
    const char *separators = header->system == TRACE_SYSTEM_WINDOWS ? "/\\:" : "/";
    const char *base = header->exe;

    for (const char *at = base; *at; at++) {
        if (strchr(separators, *at))
            base = at + 1;
    }
    return base;
}

/* With nothing in it that a shell or a terminal would take for itself. */
static void name_trace(char name[TRACE_FILE_NAME_SIZE], const struct trace_header *header)
{
    const char *base = base_name(header);
    char plain[LONGEST_EXE + 1] = {0};

    for (int i = 0; i < LONGEST_EXE && base[i]; i++)
        plain[i] = is_plain(base[i]) ? base[i] : '_';
    if (plain[0] == '.' || plain[0] == '-')
        plain[0] = '_';
    snprintf(name, TRACE_FILE_NAME_SIZE, "%s-%u-%u.bin", plain[0] ? plain : "unknown", header->pid,
             header->session);
}

static int open_new(struct trace_file *file, int directory, struct trace_header *header)
{
    for (int i = 0; i < NAME_ATTEMPTS; i++, header->session++) {
        name_trace(file->name, header);
        file->fd = file_create(directory, file->name);
        if (file->fd >= 0 || errno != EEXIST)
            break;
    }
    return file->fd;
}

/* Halves the capacity until the file can have it. */
static bool extend(int fd, uint64_t *capacity)
{
    for (; *capacity >= SMALLEST_CAPACITY; *capacity /= 2) {
        *capacity -= *capacity % TRACE_BLOCK_SIZE;
        if (file_extend(fd, *capacity))
            return true;
        if (errno != EFBIG && errno != EINVAL)
            return false;
    }
    errno = EFBIG;
    return false;
}

/* The whole page is written, so that the agent's half of it has its room on the disk as well. */
static bool write_header(int fd, struct trace_header *header)
{
    unsigned char page[TRACE_HEADER_SIZE] = {0};

    memcpy(header->magic, TRACE_MAGIC, sizeof(header->magic));
    header->version = TRACE_VERSION;
    header->header_size = TRACE_HEADER_SIZE;
    header->block_size = TRACE_BLOCK_SIZE;
    header->used = TRACE_HEADER_SIZE;
    header->state = TRACE_PREPARED;
    header->pauses = header->paused;
    memcpy(page, header, sizeof(*header));
    return file_write_at(fd, page, sizeof(page), 0);
}

bool trace_file_create(struct trace_file *file, int directory, struct trace_header *header)
{
    int error;

    if (open_new(file, directory, header) < 0)
        return false;
    if (!extend(file->fd, &header->capacity) || !write_header(file->fd, header))
        goto err;
    file->capacity = header->capacity;
    file->identity = file_identity(file->fd);
    return true;
err:
    error = errno;
    trace_file_discard(file, directory);
    errno = error;
    return false;
}

uint64_t trace_file_used(const struct trace_file *file)
{
    uint64_t used;

    if (!file_read_at(file->fd, &used, sizeof(used), offsetof(struct trace_header, used)))
        return TRACE_HEADER_SIZE;
    return used;
}

/* One that is lost is no harm. */
void trace_file_tick(const struct trace_file *file, const uint64_t ticks[2])
{
    (void)file_write_at(file->fd, ticks, 2 * sizeof(*ticks),
                        offsetof(struct trace_header, tick_before));
}

/* The process jumps to what it finds in `hook`: only a mapping is written to in whole words. Null,
 * errno set, also where somebody has cut the file, so that touching it would kill. */
static struct trace_header *map_header(const struct trace_file *file)
{
    char last;

    if (!file_read_at(file->fd, &last, sizeof(last), TRACE_HEADER_SIZE - 1))
        return NULL;
    return file_map(file->fd, TRACE_HEADER_SIZE);
}

/* In step with hooks/linux/hook_word.c, as trace_format.h has it. */
bool trace_file_pause(struct trace_file *file, bool paused)
{
    struct trace_header *header = map_header(file);
    uint64_t entry;

    if (!header)
        return false;
    header->pauses += paused;
    __atomic_store_n(&header->paused, paused, __ATOMIC_SEQ_CST);
    entry = __atomic_load_n(&header->entry, __ATOMIC_SEQ_CST);
    if (entry)
        __atomic_store_n(&header->hook, paused ? 0 : entry, __ATOMIC_SEQ_CST);
    file_unmap(header, TRACE_HEADER_SIZE);
    return true;
}

/* `used` as it can be. */
static uint64_t bounded(const struct trace_file *file, uint64_t used)
{
    if (used < TRACE_HEADER_SIZE)
        used = TRACE_HEADER_SIZE;
    if (used > file->capacity)
        used = file->capacity;
    return used + (TRACE_BLOCK_SIZE - used % TRACE_BLOCK_SIZE) % TRACE_BLOCK_SIZE;
}

/* Anything out of bounds was written by mistake, and may hide blocks in use. */
static uint64_t used_in_bounds(const struct trace_file *file)
{
    uint64_t used = trace_file_used(file);
    uint64_t fixed = bounded(file, used);

    if (fixed == used)
        return used;

    message("%s: expected bytes in use to be a multiple of %u from %u to %" PRIu64
            ", found %" PRIu64 ": taken as %" PRIu64 "; the trace may be damaged",
            file->name, TRACE_BLOCK_SIZE, TRACE_HEADER_SIZE, file->capacity, used, fixed);
    if (!file_write_at(file->fd, &fixed, sizeof(fixed), offsetof(struct trace_header, used)))
        message("%s: cannot write: %s", file->name, strerror(errno));
    return fixed;
}

/* What a reader needs to know of the end. Written first: a service killed before the cut leaves a
 * trace that is long, and says as much. */
static bool write_end(struct trace_file *file, const struct trace_file_end *end)
{
    uint32_t kind = end->kind, how = end->how, code = end->code;

    return file_write_at(file->fd, &how, sizeof(how), offsetof(struct trace_header, end_how)) &&
           file_write_at(file->fd, &code, sizeof(code), offsetof(struct trace_header, end_code)) &&
           file_write_at(file->fd, &kind, sizeof(kind), offsetof(struct trace_header, end)) &&
           file_write_at(file->fd, &end->seen_ticks, sizeof(end->seen_ticks),
                         offsetof(struct trace_header, end_seen_ticks)) &&
           file_write_at(file->fd, &end->ticks_per_second, sizeof(end->ticks_per_second),
                         offsetof(struct trace_header, ticks_per_second));
}

/* A child that was forked in a pause goes by its parent's trace until it begins with its own. If
 * the parent is gone, nobody else would end that pause; whether it is one for the child is told
 * at its hello. */
static void end_pause_of_children(const struct trace_file *file)
{
    struct trace_header *header = map_header(file);

    if (!header)
        return;
    __atomic_store_n(&header->hook, header->entry, __ATOMIC_SEQ_CST);
    file_unmap(header, TRACE_HEADER_SIZE);
}

uint64_t trace_file_end(struct trace_file *file, const struct trace_file_end *end)
{
    uint64_t used = used_in_bounds(file);

    end_pause_of_children(file);
    if (!write_end(file, end) || !file_cut(file->fd, used, false))
        message("%s: cannot complete the trace: %s", file->name, strerror(errno));
    trace_file_leave(file);
    return used;
}

bool trace_file_is_unused(const struct trace_file *file)
{
    return file_cut(file->fd, bounded(file, trace_file_used(file)), true) || errno != EBUSY;
}

void trace_file_leave(struct trace_file *file)
{
    file_close(file->fd);
    file->fd = -1;
}

void trace_file_discard(struct trace_file *file, int directory)
{
    trace_file_leave(file);
    file_remove(directory, file->name);
}
