#include "service/events/linux/event_drain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/base/event_loop.h"
#include "service/base/file.h"
#include "service/base/message.h"
#include "service/events/linux/event_ring.h"
#include "service/traces/memory_file.h"

#define SMALLEST_RING (4 * EVENT_SEGMENT_SIZE)
#define TRACE_SUFFIX  ".bin"
#define RETRY_MS      500 /* to write, when the disk is full */

struct file_name {
    char text[sizeof((struct event_drain *)0)->name + 24];
};

static struct file_name events_name(const struct event_drain *drain, uint32_t piece)
{
    struct file_name name;

    if (piece)
        snprintf(name.text, sizeof(name.text), "%s.events.%u", drain->name, piece);
    else
        snprintf(name.text, sizeof(name.text), "%s.events", drain->name);
    return name;
}

static int make_file(int directory, const char *name)
{
    return openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static bool write_fully(int fd, const void *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t count = write(fd, (const char *)bytes + done, size - done);

        if (count < 0 && errno != EINTR)
            return false;
        done += count > 0 ? (size_t)count : 0;
    }
    return true;
}

static bool make_piece(struct event_drain *drain)
{
    drain->file = make_file(drain->directory, events_name(drain, drain->header.piece).text);
    drain->written = sizeof(drain->header);
    return drain->file >= 0 && write_fully(drain->file, &drain->header, sizeof(drain->header));
}

static struct event_segment *segment_at(const struct event_drain *drain, uint32_t i)
{
    return (struct event_segment *)((char *)drain->ring + EVENT_RING_HEADER +
                                    (uint64_t)i * EVENT_SEGMENT_SIZE);
}

/* Room for the header is there from here on. Of what follows nothing is looked at before the agent
   has found room for it: `touched`. */
static bool make_ring(struct event_drain *drain)
{
    struct event_ring ring = {.version = EVENT_VERSION, .segment_size = EVENT_SEGMENT_SIZE};
    uint64_t size = drain->policy->ring_size;
    uint32_t count;

    if (size < SMALLEST_RING)
        size = SMALLEST_RING;
    count = (uint32_t)(size / EVENT_SEGMENT_SIZE);
    drain->ring_size = EVENT_RING_HEADER + (uint64_t)count * EVENT_SEGMENT_SIZE;
    memcpy(ring.magic, EVENT_RING_MAGIC, sizeof(ring.magic));
    ring.segment_count = count;
    drain->ring_file = memory_file_create(drain->name);
    if (drain->ring_file < 0 || !file_extend(drain->ring_file, drain->ring_size) ||
        !memory_file_seal(drain->ring_file) ||
        !file_write_at(drain->ring_file, &ring, sizeof(ring), 0))
        return false;
    drain->ring = file_map(drain->ring_file, drain->ring_size);
    return drain->ring != NULL;
}

static void close_file(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void let_go(struct event_drain *drain)
{
    if (drain->ring)
        file_unmap(drain->ring, drain->ring_size);
    drain->ring = NULL;
    close_file(&drain->ring_file);
    close_file(&drain->file);
}

bool event_drain_open(struct event_drain *drain, const struct event_policy *policy,
                      struct event_packer *packer, int directory, const char *trace_name,
                      const struct trace_header *header)
{
    size_t length = strlen(trace_name) - strlen(TRACE_SUFFIX);
    int error;

    *drain = (struct event_drain){
        .policy = policy,
        .directory = directory,
        .packer = packer,
        .ring_file = -1,
        .file = -1,
        .header = {.version = EVENT_VERSION,
                   .pid = header->pid,
                   .session = header->session,
                   .piece = policy->keep_newest && policy->disk_size ? 1 : 0,
                   .created_ns = header->created_ns},
    };
    memcpy(drain->header.magic, EVENT_FILE_MAGIC, sizeof(drain->header.magic));
    snprintf(drain->name, sizeof(drain->name), "%.*s", (int)length, trace_name);
    if (make_ring(drain) && make_piece(drain))
        return true;
    error = errno;
    event_drain_discard(drain);
    errno = error;
    return false;
}

void event_drain_adopt(struct event_drain *drain, int directory, const char *trace_name, int ring)
{
    struct event_ring head;

    *drain = (struct event_drain){
        .directory = directory, .ring_file = ring, .file = -1, .has_failed = true};
    snprintf(drain->name, sizeof(drain->name), "%.*s",
             (int)(strlen(trace_name) - strlen(TRACE_SUFFIX)), trace_name);
    if (!file_read_at(ring, &head, sizeof(head), 0) || head.segment_count > EVENT_MOST_SEGMENTS)
        return;
    drain->ring_size = EVENT_RING_HEADER + (uint64_t)head.segment_count * EVENT_SEGMENT_SIZE;
    drain->ring = file_map(ring, drain->ring_size);
}

static void stop(struct event_drain *drain, bool *reason, const char *why)
{
    if (!*reason)
        message("%s.events: no more events are kept: %s", drain->name, why);
    *reason = true;
    __atomic_store_n(&drain->ring->stopped, 1, __ATOMIC_RELAXED);
}

/* Begins the next piece, and removes the one that the limit has no room for. */
static bool next_piece(struct event_drain *drain)
{
    uint32_t piece = ++drain->header.piece;
    uint64_t *oldest = &drain->piece_events[piece % EVENT_PIECES];

    close_file(&drain->file);
    if (piece > EVENT_PIECES) {
        unlinkat(drain->directory, events_name(drain, piece - EVENT_PIECES).text, 0);
        drain->header.gone += *oldest;
    }
    *oldest = 0;
    return make_piece(drain);
}

/* Is there room for so many more bytes? Makes it, if that is the policy. */
static bool make_room(struct event_drain *drain, uint64_t size)
{
    uint64_t limit = drain->policy->disk_size;

    if (!limit)
        return true;
    if (!drain->policy->keep_newest) {
        if (drain->written + size <= limit)
            return true;
        stop(drain, &drain->is_full,
             "the limit on disk is reached; raise --max-events-size, or add --keep-newest");
        return false;
    }
    if (drain->written + size <= limit / EVENT_PIECES || drain->written == sizeof(drain->header))
        return true;
    if (next_piece(drain))
        return true;
    stop(drain, &drain->has_failed, strerror(errno));
    return false;
}

static void note_room(struct event_drain *drain, bool is_without)
{
    if (is_without != drain->is_without_room)
        message("%s.events: %s%s", drain->name,
                is_without ? "events are lost for want of room: " : "there is room again",
                is_without ? strerror(errno) : "");
    drain->is_without_room = is_without;
    drain->retry_ms = event_loop_now() + RETRY_MS;
}

/* What could not be written whole is taken back: a reader must not meet half a chunk. */
static bool append(struct event_drain *drain, const struct event_chunk *chunk)
{
    if (!make_room(drain, chunk->size))
        return false;
    if (!write_fully(drain->file, chunk, chunk->size)) {
        note_room(drain, true);
        if (ftruncate(drain->file, (off_t)drain->written) < 0 ||
            lseek(drain->file, (off_t)drain->written, SEEK_SET) < 0)
            stop(drain, &drain->has_failed, strerror(errno));
        return false;
    }
    note_room(drain, false);
    drain->written += chunk->size;
    drain->written_by_pieces += chunk->size;
    drain->events += chunk->events;
    drain->piece_events[drain->header.piece % EVENT_PIECES] += chunk->events;
    return true;
}

struct ready {
    uint64_t sequence;
    uint32_t segment;
};

static int compare_ready(const void *a, const void *b)
{
    uint64_t x = ((const struct ready *)a)->sequence, y = ((const struct ready *)b)->sequence;

    return x < y ? -1 : x > y;
}

/* Segments whose state is at least so far, in the order in which they were taken. */
static struct ready *find_ready(const struct event_drain *drain, uint32_t least, unsigned *count)
{
    uint32_t all = (uint32_t)((drain->ring_size - EVENT_RING_HEADER) / EVENT_SEGMENT_SIZE);
    uint32_t touched = __atomic_load_n(&drain->ring->touched, __ATOMIC_ACQUIRE);
    uint32_t segments = touched < all ? touched : all;
    struct ready *ready;

    *count = 0;
    if (!segments)
        return NULL;
    ready = malloc(segments * sizeof(*ready));
    for (uint32_t i = 0; i < segments && ready; i++) {
        const struct event_segment *segment = segment_at(drain, i);

        if (__atomic_load_n(&segment->state, __ATOMIC_ACQUIRE) >= least)
            ready[(*count)++] = (struct ready){segment->sequence, i};
    }
    if (*count)
        qsort(ready, *count, sizeof(*ready), compare_ready);
    return ready;
}

static unsigned drain_from(struct event_drain *drain, uint32_t least)
{
    unsigned count, done = 0;
    struct ready *ready = find_ready(drain, least, &count);

    for (; done < count && !drain->has_failed && !drain->is_full; done++) {
        struct event_segment *segment = segment_at(drain, ready[done].segment);
        const struct event_chunk *chunk =
            event_pack(drain->packer, segment, (const uint64_t *)(segment + 1));

        if (!append(drain, chunk))
            break;
        __atomic_store_n(&segment->state, EVENT_SEGMENT_FREE, __ATOMIC_RELEASE);
    }
    free(ready);
    return done;
}

unsigned event_drain_turn(struct event_drain *drain)
{
    if (!drain->ring || drain->has_failed ||
        (drain->is_without_room && event_loop_now() < drain->retry_ms))
        return 0;
    return drain_from(drain, EVENT_SEGMENT_FULL);
}

/* Events that nobody will find in a chunk: threads' last losses, and segments past the limit. */
static uint64_t count_dropped(const struct event_drain *drain)
{
    uint64_t dropped = drain->ring->dropped;
    unsigned count;
    struct ready *ready = find_ready(drain, EVENT_SEGMENT_FILLING, &count);

    for (unsigned i = 0; i < count; i++) {
        const struct event_segment *segment = segment_at(drain, ready[i].segment);

        dropped += event_pack(drain->packer, segment, (const uint64_t *)(segment + 1))->events +
                   segment->dropped;
    }
    free(ready);
    return dropped;
}

/* Some file systems have no room, once they are full, even for what replaces something. */
static uint64_t note_dropped(struct event_drain *drain)
{
    drain->header.dropped = count_dropped(drain);
    if (file_write_at(drain->file, &drain->header, sizeof(drain->header), 0))
        return 0;
    message("%s.events: %s", drain->name, strerror(errno));
    return drain->header.dropped;
}

uint64_t event_drain_end(struct event_drain *drain)
{
    bool is_saved = false;
    uint64_t untold = 0;

    if (!drain->ring)
        return 0;
    if (!drain->has_failed)
        drain_from(drain, EVENT_SEGMENT_FILLING);
    if (drain->has_failed || drain->is_without_room)
        is_saved = event_ring_save(drain->ring_file, drain->directory, drain->name);
    if (!is_saved && drain->file >= 0)
        untold = note_dropped(drain);
    let_go(drain);
    return untold;
}

void event_drain_leave(struct event_drain *drain)
{
    if (!drain->ring)
        return;
    event_drain_turn(drain);
    let_go(drain);
}

void event_drain_discard(struct event_drain *drain)
{
    if (drain->file >= 0)
        unlinkat(drain->directory, events_name(drain, drain->header.piece).text, 0);
    let_go(drain);
}
