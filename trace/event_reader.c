#include "trace/event_reader.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/regular_file.h"
#include "trace/event_chunk.h"

#define PATH_ROOM     4096
#define WORDS_SIZE    (EVENT_SEGMENT_SIZE - sizeof(struct event_segment))
#define TRACE_SUFFIX  ".bin"
#define EVENTS_SUFFIX ".events"
#define RING_SUFFIX   ".ring"

/* A segment of the ring that was not yet seen in a chunk, with its words. */
struct leftover {
    struct event_segment segment;
    uint64_t *words;
    bool is_in_events;
};

struct reading {
    const struct trace_header *header;
    const struct event_visitor *visitor;
    struct event_totals *totals;
    struct failure *failure;
    struct event_unpacker *unpacker;
    uint8_t *body; /* EVENT_CHUNK_ROOM bytes */
    uint32_t thread;
    struct leftover *leftovers; /* ascending by sequence */
    size_t leftover_count;
};

/* NAME.bin to NAME and a suffix. */
static void name_beside(char path[PATH_ROOM], const char *trace_path, const char *suffix)
{
    size_t length = strlen(trace_path), end = strlen(TRACE_SUFFIX);

    if (length >= end && !strcmp(trace_path + length - end, TRACE_SUFFIX))
        length -= end;
    snprintf(path, PATH_ROOM, "%.*s%s", (int)length, trace_path, suffix);
}

/* Bytes read, fewer only at the end of the file. */
static size_t read_up_to(int fd, void *bytes, size_t size)
{
    size_t done = 0;
    ssize_t count = 1;

    while (done < size && count != 0) {
        count = read(fd, (char *)bytes + done, size - done);
        if (count < 0 && errno != EINTR)
            break;
        done += count > 0 ? (size_t)count : 0;
    }
    return done;
}

static bool hand_over(void *user, const struct event *event)
{
    struct reading *reading = user;

    reading->totals->events++;
    if (reading->visitor->event)
        reading->visitor->event(reading->visitor->user, reading->thread, event);
    return true;
}

static bool is_wanted(const struct reading *reading, uint32_t thread)
{
    return !reading->visitor->wants || reading->visitor->wants(reading->visitor->user, thread);
}

static void begin_segment(struct reading *reading, uint32_t thread, uint64_t sequence,
                          uint64_t dropped)
{
    reading->thread = thread;
    reading->totals->segments++;
    reading->totals->dropped += dropped;
    if (reading->visitor->segment)
        reading->visitor->segment(reading->visitor->user, thread, sequence, dropped);
}

static int compare_leftovers(const void *a, const void *b)
{
    uint64_t x = ((const struct leftover *)a)->segment.sequence;
    uint64_t y = ((const struct leftover *)b)->segment.sequence;

    return x < y ? -1 : x > y;
}

static void note_in_events(struct reading *reading, uint64_t sequence)
{
    const struct leftover wanted = {.segment.sequence = sequence};
    struct leftover *found = NULL;

    if (reading->leftover_count)
        found = bsearch(&wanted, reading->leftovers, reading->leftover_count, sizeof(wanted),
                        compare_leftovers);
    if (found)
        found->is_in_events = true;
}

static bool read_chunks(struct reading *reading, int fd, const char *path)
{
    struct event_chunk chunk;
    uint64_t at = sizeof(struct event_file_header);

    for (;; at += chunk.size) {
        size_t have = read_up_to(fd, &chunk, sizeof(chunk)), rest;
        const char *expected;

        if (have < sizeof(chunk)) {
            reading->totals->cut += have;
            return true;
        }
        if (!event_chunk_is_sound(&chunk))
            return fail(reading->failure, path,
                        "chunk at %" PRIu64 ": expected sizes that fit, found %u", at, chunk.size);
        rest = chunk.size - sizeof(chunk);
        if (read_up_to(fd, reading->body, rest) < rest) {
            reading->totals->cut += sizeof(chunk);
            return true;
        }
        if (!event_chunk_is_whole(&chunk, reading->body))
            return fail(reading->failure, path,
                        "chunk at %" PRIu64 ": expected what the checksum was made of", at);
        note_in_events(reading, chunk.sequence);
        if (!is_wanted(reading, chunk.thread))
            continue;
        begin_segment(reading, chunk.thread, chunk.sequence, chunk.dropped);
        reading->totals->torn += chunk.torn;
        reading->totals->bytes += chunk.size;
        expected = event_unpack(reading->unpacker, &chunk, reading->body, hand_over, reading);
        if (expected)
            return fail(reading->failure, path, "chunk at %" PRIu64 ": expected %s", at, expected);
    }
}

static bool read_file(struct reading *reading, const char *path)
{
    struct event_file_header header;
    int fd = regular_file_open(path);
    bool is_read = false;

    if (fd < 0)
        return fail(reading->failure, path, "cannot be opened: %s", regular_file_error());
    if (read_up_to(fd, &header, sizeof(header)) < sizeof(header))
        is_read = true; /* it was only just made */
    else if (memcmp(header.magic, EVENT_FILE_MAGIC, sizeof(header.magic)))
        fail(reading->failure, path, "not a file of events: expected it to begin with %s",
             EVENT_FILE_MAGIC);
    else if (header.version != EVENT_VERSION)
        fail(reading->failure, path, "expected events of version %u, found %u", EVENT_VERSION,
             header.version);
    else if (header.pid != reading->header->pid || header.created_ns != reading->header->created_ns)
        fail(reading->failure, path,
             "expected the events of the trace beside it, of process %u, found %u",
             reading->header->pid, header.pid);
    else {
        if (reading->totals->gone < header.gone)
            reading->totals->gone = header.gone;
        reading->totals->dropped += header.dropped;
        is_read = read_chunks(reading, fd, path);
    }
    close(fd);
    return is_read;
}

/* A copy of a ring's segment, if it was whole and the same before and after. */
static bool copy_segment(int fd, uint64_t at, struct leftover *leftover)
{
    struct event_segment after;
    const struct event_segment *before = &leftover->segment;

    if (pread(fd, &leftover->segment, sizeof(after), (off_t)at) != sizeof(after) ||
        before->state < EVENT_SEGMENT_FILLING || before->state > EVENT_SEGMENT_FULL)
        return false;
    leftover->words = malloc(WORDS_SIZE);
    if (leftover->words &&
        pread(fd, leftover->words, WORDS_SIZE, (off_t)(at + sizeof(after))) == WORDS_SIZE &&
        pread(fd, &after, sizeof(after), (off_t)at) == sizeof(after) &&
        after.sequence == before->sequence && after.state >= EVENT_SEGMENT_FILLING)
        return true;
    free(leftover->words);
    return false;
}

static bool copy_ring(struct reading *reading, const char *trace_path)
{
    char path[PATH_ROOM];
    struct event_ring ring;
    bool is_read = true;
    int fd;

    name_beside(path, trace_path, RING_SUFFIX);
    fd = regular_file_open(path);
    if (fd < 0)
        return true;
    if (read_up_to(fd, &ring, sizeof(ring)) < sizeof(ring) ||
        memcmp(ring.magic, EVENT_RING_MAGIC, sizeof(ring.magic)) || ring.version != EVENT_VERSION ||
        ring.segment_size != EVENT_SEGMENT_SIZE || ring.segment_count > EVENT_MOST_SEGMENTS) {
        is_read = fail(reading->failure, path, "not a ring of events of version %u", EVENT_VERSION);
        goto end;
    }
    reading->totals->dropped += ring.dropped;
    reading->leftovers = calloc(ring.segment_count, sizeof(*reading->leftovers));
    for (uint32_t i = 0; i < ring.segment_count && reading->leftovers; i++)
        if (copy_segment(fd, EVENT_RING_HEADER + (uint64_t)i * EVENT_SEGMENT_SIZE,
                         &reading->leftovers[reading->leftover_count]))
            reading->leftover_count++;
    if (reading->leftover_count)
        qsort(reading->leftovers, reading->leftover_count, sizeof(*reading->leftovers),
              compare_leftovers);
end:
    close(fd);
    return is_read;
}

static void read_leftovers(struct reading *reading)
{
    for (size_t i = 0; i < reading->leftover_count; i++) {
        const struct leftover *leftover = &reading->leftovers[i];

        if (leftover->is_in_events || !is_wanted(reading, leftover->segment.thread))
            continue;
        reading->totals->from_ring++;
        begin_segment(reading, leftover->segment.thread, leftover->segment.sequence,
                      leftover->segment.dropped);
        reading->totals->torn += event_words_read(leftover->words, EVENT_SEGMENT_WORDS,
                                                  leftover->segment.base, hand_over, reading);
    }
}

struct pieces {
    uint32_t *numbers;
    size_t count, room;
};

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void note_piece(struct pieces *pieces, const char *name, const char *start)
{
    char *end;
    unsigned long number;

    if (strncmp(name, start, strlen(start)))
        return;
    number = strtoul(name + strlen(start), &end, 10);
    if (*end || !number || number > UINT32_MAX)
        return;
    if (pieces->count == pieces->room) {
        uint32_t *more = realloc(pieces->numbers, (pieces->room * 2 + 16) * sizeof(*more));

        if (!more)
            return;
        pieces->numbers = more;
        pieces->room = pieces->room * 2 + 16;
    }
    pieces->numbers[pieces->count++] = (uint32_t)number;
}

/* The N of all NAME.events.N, ascending. The caller frees the numbers. */
static struct pieces find_pieces(const char *events_path)
{
    char folder[PATH_ROOM], start[PATH_ROOM];
    struct pieces pieces = {0};
    struct dirent *entry;
    const char *slash = strrchr(events_path, '/');
    DIR *directory;

    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - events_path + 1) : 1,
             slash ? events_path : ".");
    snprintf(start, sizeof(start), "%.4090s.", slash ? slash + 1 : events_path);
    directory = opendir(folder);
    while (directory && (entry = readdir(directory)))
        note_piece(&pieces, entry->d_name, start);
    if (directory)
        closedir(directory);
    if (pieces.count)
        qsort(pieces.numbers, pieces.count, sizeof(*pieces.numbers), compare_numbers);
    return pieces;
}

static bool read_pieces(struct reading *reading, const char *trace_path)
{
    char path[PATH_ROOM], piece_path[PATH_ROOM + 16];
    bool is_read = true;
    struct pieces pieces;

    name_beside(path, trace_path, EVENTS_SUFFIX);
    if (access(path, F_OK) == 0 && !read_file(reading, path))
        return false;
    pieces = find_pieces(path);
    for (size_t i = 0; i < pieces.count && is_read; i++) {
        snprintf(piece_path, sizeof(piece_path), "%s.%" PRIu32, path, pieces.numbers[i]);
        is_read = read_file(reading, piece_path);
    }
    free(pieces.numbers);
    return is_read;
}

bool event_files_exist(const char *trace_path)
{
    char path[PATH_ROOM];
    struct pieces pieces;

    name_beside(path, trace_path, RING_SUFFIX);
    if (access(path, F_OK) == 0)
        return true;
    name_beside(path, trace_path, EVENTS_SUFFIX);
    if (access(path, F_OK) == 0)
        return true;
    pieces = find_pieces(path);
    free(pieces.numbers);
    return pieces.count > 0;
}

bool event_files_read(const char *trace_path, const struct trace_header *header,
                      const struct event_visitor *visitor, struct event_totals *totals,
                      struct failure *failure)
{
    struct reading reading = {
        .header = header,
        .visitor = visitor,
        .totals = totals,
        .failure = failure,
        .unpacker = event_unpacker_new(),
        .body = malloc(EVENT_CHUNK_ROOM),
    };
    bool is_read = false;

    *totals = (struct event_totals){.dropped = header->events_dropped};
    if (!reading.unpacker || !reading.body)
        fail(failure, trace_path, "%s", strerror(ENOMEM));
    else if (copy_ring(&reading, trace_path) && read_pieces(&reading, trace_path)) {
        read_leftovers(&reading);
        is_read = true;
    }
    for (size_t i = 0; i < reading.leftover_count; i++)
        free(reading.leftovers[i].words);
    free(reading.leftovers);
    free(reading.body);
    event_unpacker_free(reading.unpacker);
    return is_read;
}
