#include "service/traces/trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "service/base/file.h"
#include "service/base/message.h"
#include "service/traces/cover.h"
#include "service/traces/memory_file.h"
#include "service/traces/trace_write_out.h"

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

void trace_file_name(char name[TRACE_FILE_NAME_SIZE], const struct trace_header *header)
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

/* A file whose name nobody has. Returns -1, errno set. */
static int take_name(struct trace_file *file, int directory, struct trace_header *header)
{
    int fd = -1;

    for (int i = 0; i < NAME_ATTEMPTS; i++, header->session++) {
        trace_file_name(file->name, header);
        fd = file_create(directory, file->name);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    return fd;
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

/* What every trace has. */
static void fill_in(struct trace_header *header)
{
    memcpy(header->magic, TRACE_MAGIC, sizeof(header->magic));
    header->version = TRACE_VERSION;
    header->header_size = TRACE_HEADER_SIZE;
    header->block_size = TRACE_BLOCK_SIZE;
    header->used = TRACE_HEADER_SIZE;
    header->state = TRACE_PREPARED;
    header->pauses = header->paused;
}

/* The whole page is written, so that the agent's half of it has its room as well. */
static bool write_header(int fd, const struct trace_header *header)
{
    unsigned char page[TRACE_HEADER_SIZE] = {0};

    memcpy(page, header, sizeof(*header));
    return file_write_at(fd, page, sizeof(page), 0);
}

/* Until the end, that is what there is to read. A full disk is no reason not to record. */
static void write_first_snapshot(int fd, const struct trace_header *header)
{
    struct trace_header first = *header;

    first.end = TRACE_END_SNAPSHOT;
    (void)write_header(fd, &first);
}

/* Room for the header is there from here on, and never goes. */
static bool make_memory(struct trace_file *file, struct trace_header *header)
{
    file->fd = memory_file_create(file->name);
    if (file->fd < 0 || !extend(file->fd, &header->capacity) || !memory_file_seal(file->fd) ||
        !write_header(file->fd, header))
        return false;
    file->header = file_map(file->fd, TRACE_HEADER_SIZE);
    return file->header != NULL;
}

bool trace_file_create(struct trace_file *file, int directory, struct trace_header *header,
                       bool in_memory)
{
    int named = take_name(file, directory, header);
    int error;
    bool ok;

    file->fd = named;
    file->header = NULL;
    file->first = 0;
    if (named < 0 && !in_memory)
        return false;
    fill_in(header);
    if (in_memory) {
        if (named >= 0) { /* else there may be room at the end, here or elsewhere */
            write_first_snapshot(named, header);
            file->first = file_identity(named);
        }
        file_close(named);
        file->fd = -1;
        ok = make_memory(file, header);
    } else {
        ok = extend(file->fd, &header->capacity) && write_header(file->fd, header);
    }
    if (ok) {
        file->capacity = header->capacity;
        file->identity = file_identity(file->fd);
        return true;
    }
    error = errno;
    trace_file_discard(file, directory);
    errno = error;
    return false;
}

static bool is_header(const struct trace_header *header)
{
    return memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)) == 0 &&
           header->version == TRACE_VERSION && header->block_size == TRACE_BLOCK_SIZE &&
           header->capacity >= TRACE_HEADER_SIZE && header->capacity / TRACE_UNIT <= UINT32_MAX;
}

bool trace_file_adopt(struct trace_file *file, int fd, const char *name)
{
    struct trace_header header;

    if (!file_read_at(fd, &header, sizeof(header), 0) || !is_header(&header)) {
        errno = EPROTO;
        return false;
    }
    *file = (struct trace_file){
        .fd = fd,
        .header = file_map(fd, TRACE_HEADER_SIZE),
        .capacity = header.capacity,
        .identity = file_identity(fd),
    };
    snprintf(file->name, sizeof(file->name), "%s", name);
    return file->header != NULL;
}

uint64_t trace_file_used(const struct trace_file *file)
{
    uint64_t used;

    if (file->header)
        return __atomic_load_n(&file->header->used, __ATOMIC_RELAXED);
    if (!file_read_at(file->fd, &used, sizeof(used), offsetof(struct trace_header, used)))
        return TRACE_HEADER_SIZE;
    return used;
}

void trace_file_write_ticks(const struct trace_file *file, const uint64_t ticks[2])
{
    /* A Windows program's file is not mapped here: whoever cuts it would kill. The program may read
       a word that is half written. It is no tick, so the call that noted it is looked at when it
       returns, and counts from a begin that is off by what the halves differ: a millisecond. */
    if (!file->header) {
        (void)file_write_at(file->fd, ticks, 2 * sizeof(*ticks),
                            offsetof(struct trace_header, tick_before));
        return;
    }
    __atomic_store_n(&file->header->tick_before, ticks[0], __ATOMIC_RELEASE);
    __atomic_store_n(&file->header->tick, ticks[1], __ATOMIC_RELEASE);
}

/* The process jumps to what it finds in `hook`: only a mapping is written to in whole words. Null,
 * errno set, also where somebody has cut the file, so that touching it would kill. */
static struct trace_header *map_header(const struct trace_file *file)
{
    char last;

    if (file->header)
        return file->header;
    if (!file_read_at(file->fd, &last, sizeof(last), TRACE_HEADER_SIZE - 1))
        return NULL;
    return file_map(file->fd, TRACE_HEADER_SIZE);
}

static void unmap_header(const struct trace_file *file, struct trace_header *header)
{
    if (header != file->header)
        file_unmap(header, TRACE_HEADER_SIZE);
}

/* What calls go by from now on: 0, nothing is recorded. */
static void let_record(struct trace_header *header, uint64_t entry)
{
    __atomic_store_n(&header->frames, entry ? header->words : 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&header->hook, entry, __ATOMIC_SEQ_CST);
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
        let_record(header, paused ? 0 : entry);
    unmap_header(file, header);
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

/* Puts the agent's blocks of cover behind the others. Returns the bytes in use. */
static uint64_t append_cover(const struct trace_file *file, uint64_t used)
{
    uint64_t capacity, end;

    if (!file_read_at(file->fd, &capacity, sizeof(capacity),
                      offsetof(struct trace_header, capacity)) ||
        capacity > file->capacity)
        return used;
    end = cover_append(file->fd, file->fd, capacity, used);
    return end > used &&
                   file_write_at(file->fd, &end, sizeof(end), offsetof(struct trace_header, used))
               ? end
               : used;
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

/* A child that was forked in a pause uses its parent's trace until it begins its own. If the parent
 * is gone, nothing else would end that pause. The answer to the child's hello says whether the
 * child is to pause. */
static void end_pause_of_children(const struct trace_file *file)
{
    struct trace_header *header = map_header(file);

    if (!header)
        return;
    let_record(header, header->entry);
    unmap_header(file, header);
}

uint64_t trace_file_end(struct trace_file *file, const struct trace_dir *directory,
                        const struct trace_file_end *end, char *elsewhere, size_t size)
{
    uint64_t used = used_in_bounds(file);
    bool ok;

    elsewhere[0] = 0;
    if (file->header)
        used = append_cover(file, used);
    if (end->kind != TRACE_END_DETACHED) /* its stubs are to pass, for good */
        end_pause_of_children(file);
    ok = write_end(file, end);
    if (ok && file->header)
        ok = trace_write_out(file->fd, file->name, directory, file->first, used, elsewhere, size);
    else if (ok)
        ok = file_cut(file->fd, used, false);
    if (!ok)
        message("%s: cannot complete the trace: %s", file->name, strerror(errno));
    trace_file_leave(file);
    return used;
}

bool trace_file_cut_if_unused(const struct trace_file *file)
{
    return file_cut(file->fd, bounded(file, trace_file_used(file)), true) || errno != EBUSY;
}

void trace_file_leave(struct trace_file *file)
{
    if (file->header)
        file_unmap(file->header, TRACE_HEADER_SIZE);
    file->header = NULL;
    file_close(file->fd);
    file->fd = -1;
}

void trace_file_discard(struct trace_file *file, int directory)
{
    trace_file_leave(file);
    file_remove(directory, file->name);
}
