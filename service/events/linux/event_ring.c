#include "service/events/linux/event_ring.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/file.h"
#include "service/base/message.h"
#include "service/traces/part_file.h"
#include "trace/event_format.h"

static bool copy(int from, int to, uint64_t at, size_t size)
{
    static unsigned char bytes[EVENT_SEGMENT_SIZE];

    return file_read_at(from, bytes, size, at) && file_write_at(to, bytes, size, at);
}

/* Segments that were given back hold nothing that a chunk has not: holes do for them. */
static bool copy_segments(int from, int to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = EVENT_RING_HEADER + (uint64_t)i * EVENT_SEGMENT_SIZE;
        struct event_segment segment;

        if (!file_read_at(from, &segment, sizeof(segment), at))
            return false;
        if (segment.state >= EVENT_SEGMENT_FILLING && !copy(from, to, at, EVENT_SEGMENT_SIZE))
            return false;
    }
    return true;
}

static bool copy_ring(int from, int to)
{
    struct event_ring ring;
    uint64_t size;

    if (!file_read_at(from, &ring, sizeof(ring), 0) || ring.segment_count > EVENT_MOST_SEGMENTS) {
        errno = EPROTO;
        return false;
    }
    size = EVENT_RING_HEADER + (uint64_t)ring.segment_count * EVENT_SEGMENT_SIZE;
    return file_extend(to, size) && copy(from, to, 0, EVENT_RING_HEADER) &&
           copy_segments(from, to, ring.segment_count);
}

bool event_ring_save(int ring, int directory, const char *stem)
{
    char name[NAME_MAX + 1];
    struct part_file part;

    snprintf(name, sizeof(name), "%s.ring", stem);
    if (part_file_begin(&part, directory, name) && copy_ring(ring, part.fd) &&
        part_file_finish(&part, name))
        return true;
    message("%s: cannot write: %s: the last events of the program are lost", name, strerror(errno));
    part_file_abandon(&part);
    return false;
}
