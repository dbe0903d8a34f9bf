#include "service/sampling/linux/sample_ring.h"

#include <linux/perf_event.h>
#include <string.h>

static void copy_out(const struct sample_ring *ring, uint64_t at, void *bytes, size_t size)
{
    uint64_t begin = at & (ring->size - 1);
    size_t before_end = ring->size - begin < size ? (size_t)(ring->size - begin) : size;

    memcpy(bytes, ring->bytes + begin, before_end);
    memcpy((unsigned char *)bytes + before_end, ring->bytes, size - before_end);
}

/* What is left of a record. */
struct rest {
    const struct sample_ring *ring;
    uint64_t at, end;
};

static bool take(struct rest *rest, void *bytes, size_t size)
{
    if (rest->end - rest->at < size)
        return false;
    copy_out(rest->ring, rest->at, bytes, size);
    rest->at += size;
    return true;
}

/* A sample whose stack could not be read is one without. */
static void take_stack(struct rest *rest, struct ring_record *record)
{
    uint64_t size, read;
    struct rest behind;

    if (!take(rest, &size, sizeof(size)) || size > rest->end - rest->at)
        return;
    behind = *rest;
    behind.at += size;
    if (!take(&behind, &read, sizeof(read)) || read > size)
        return;
    record->stack_words = read / sizeof(*record->stack);
    if (record->stack_words > SAMPLE_RING_STACK_WORDS)
        record->stack_words = SAMPLE_RING_STACK_WORDS;
    take(rest, record->stack, record->stack_words * sizeof(*record->stack));
}

static bool take_sample(struct rest *rest, struct ring_record *record)
{
    if (!take(rest, &record->event, sizeof(record->event)) ||
        !take(rest, &record->address, sizeof(record->address)) ||
        !take(rest, &record->pid, sizeof(record->pid)) ||
        !take(rest, &record->tid, sizeof(record->tid)))
        return false;
    take_stack(rest, record);
    return true;
}

static enum ring_record_kind read_record(struct rest *rest, const struct perf_event_header *header,
                                         struct ring_record *record)
{
    switch (header->type) {
    case PERF_RECORD_SAMPLE:
        return take_sample(rest, record) ? RING_SAMPLE : RING_OTHER;
    case PERF_RECORD_LOST:
        return take(rest, &record->event, sizeof(record->event)) &&
                       take(rest, &record->lost, sizeof(record->lost))
                   ? RING_LOST
                   : RING_OTHER;
    case PERF_RECORD_COMM:
        return header->misc & PERF_RECORD_MISC_COMM_EXEC &&
                       take(rest, &record->pid, sizeof(record->pid))
                   ? RING_EXEC
                   : RING_OTHER;
    }
    return RING_OTHER;
}

bool sample_ring_next(const struct sample_ring *ring, uint64_t head, uint64_t *tail,
                      struct ring_record *record)
{
    uint64_t left = head - *tail;
    struct perf_event_header header = {0};
    struct rest rest;

    if (left >= sizeof(header) && left <= ring->size)
        copy_out(ring, *tail, &header, sizeof(header));
    if (header.size < sizeof(header) || header.size > left) {
        *tail = head;
        return false;
    }
    rest = (struct rest){ring, *tail + sizeof(header), *tail + header.size};
    *tail = rest.end;
    record->stack_words = 0;
    record->kind = read_record(&rest, &header, record);
    return true;
}
