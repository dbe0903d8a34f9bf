/*
 * Perfetto's protobuf (perfetto_trace.proto): one packet behind the other, each field 1 of Trace.
 *
 *      TracePacket                                       TrackDescriptor
 *        8  timestamp                                      1  uuid
 *       10  trusted_packet_sequence_id  (1)                2  name
 *       11  track_event ──> TrackEvent                     3  process {1 pid, 6 process_name}
 *       12  interned_data {2 event_names {1 iid, 2 name}}  4  thread {1 pid, 2 tid, 5 thread_name}
 *       13  sequence_flags  (1 cleared, 2 needs)           5  parent_uuid
 *       60  track_descriptor
 *
 *      TrackEvent
 *        4  debug_annotations {10 name, 6 string_value}   how a call ended that has no end; the
 *                             caller, if that is code made at run time
 *        9  type  (1 begin, 2 end, 3 instant)
 *       10  name_iid        a function's number + 1, interned with its first begin
 *       11  track_uuid
 *       23  name            of an instant: a gap
 *
 * All packets are one sequence, so a name is there once. Timestamps are nanoseconds; the packets of
 * a track are in their order, tracks are mixed. Tracks: process P has the uuid (P + 1) << 32, its
 * thread T that + T + 1.
 *
 * The encoding is written out here: a few fields are encoded for each of millions of events.
 */
#include "grinder/formats/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/events/time_line.h"
#include "grinder/formats/part_name.h"
#include "support/memory.h"
#include "support/utf8.h"

#define SEQUENCE 1

enum { VARINT = 0, BYTES = 2 }; /* wire types */
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };
enum { CLEARED = 1, NEEDS = 2 };

/* A message that is being put together. */
struct bytes {
    uint8_t *bytes;
    size_t count, room;
};

struct writer {
    FILE *stream;
    const struct images *images;
    uint64_t process_uuid;
    struct bytes packet, event, inner;
    uint8_t *is_interned; /* by function */
    bool has_begun;       /* the sequence */
};

static void append(struct bytes *bytes, const void *more, size_t count)
{
    while (bytes->room < bytes->count + count) {
        size_t room = bytes->room;
        bytes->bytes = memory_grow(bytes->bytes, room, &bytes->room, 1);
    }
    memcpy(bytes->bytes + bytes->count, more, count);
    bytes->count += count;
}

static size_t encode(uint8_t text[10], uint64_t number)
{
    size_t count = 0;

    for (; number >= 0x80; number >>= 7)
        text[count++] = (uint8_t)(number | 0x80);
    text[count++] = (uint8_t)number;
    return count;
}

static void put_number(struct bytes *bytes, unsigned field, uint64_t number)
{
    uint8_t text[20];
    size_t count = encode(text, field << 3 | VARINT);

    count += encode(text + count, number);
    append(bytes, text, count);
}

static void put_bytes(struct bytes *bytes, unsigned field, const void *content, size_t size)
{
    uint8_t text[20];
    size_t count = encode(text, field << 3 | BYTES);

    count += encode(text + count, size);
    append(bytes, text, count);
    append(bytes, content, size);
}

static void put_text(struct bytes *bytes, unsigned field, const char *name)
{
    char *text = memory_copy_utf8(name);

    put_bytes(bytes, field, text, strlen(text));
    free(text);
}

/* Puts inner into bytes, and empties it. */
static void put_message(struct bytes *bytes, unsigned field, struct bytes *inner)
{
    put_bytes(bytes, field, inner->bytes, inner->count);
    inner->count = 0;
}

static void write_packet(struct writer *writer)
{
    uint8_t head[20];
    size_t count = encode(head, 1 << 3 | BYTES);

    count += encode(head + count, writer->packet.count);
    fwrite_unlocked(head, 1, count, writer->stream);
    fwrite_unlocked(writer->packet.bytes, 1, writer->packet.count, writer->stream);
    writer->packet.count = 0;
}

/* event, which is emptied, and whatever the packet has already. */
static void write_event(struct writer *writer, uint64_t ns)
{
    put_number(&writer->packet, 8, ns);
    put_number(&writer->packet, 10, SEQUENCE);
    put_message(&writer->packet, 11, &writer->event);
    put_number(&writer->packet, 13, writer->has_begun ? NEEDS : CLEARED | NEEDS);
    writer->has_begun = true;
    write_packet(writer);
}

static void begin_event(struct writer *writer, size_t thread, unsigned type)
{
    put_number(&writer->event, 9, type);
    put_number(&writer->event, 11, writer->process_uuid + thread + 1);
}

static void intern(struct writer *writer, uint32_t function)
{
    struct bytes *data = &writer->inner;
    struct bytes name = {0};

    if (writer->is_interned[function])
        return;
    writer->is_interned[function] = 1;
    put_number(&name, 1, (uint64_t)function + 1);
    put_text(&name, 2, time_line_name(writer->images, function));
    put_message(data, 2, &name);
    put_message(&writer->packet, 12, data);
    free(name.bytes);
}

static void annotate(struct writer *writer, const char *name, const char *value)
{
    put_text(&writer->inner, 10, name);
    put_text(&writer->inner, 6, value);
    put_message(&writer->event, 4, &writer->inner);
}

static void write_begin(void *user, size_t thread, const struct tree_node *call, uint64_t ns)
{
    struct writer *writer = user;

    intern(writer, call->function);
    begin_event(writer, thread, SLICE_BEGIN);
    put_number(&writer->event, 10, (uint64_t)call->function + 1);
    if (call->caller)
        annotate(writer, "caller", time_line_name(writer->images, call->caller));
    write_event(writer, ns);
}

static void write_end(void *user, size_t thread, uint64_t ns, enum time_line_end how)
{
    struct writer *writer = user;

    begin_event(writer, thread, SLICE_END);
    if (how != TIME_LINE_ENDED)
        annotate(writer, "end", how == TIME_LINE_OPEN ? "open" : "closed");
    write_event(writer, ns);
}

static void write_gap(void *user, size_t thread, uint64_t from_ns, uint64_t to_ns, uint64_t dropped)
{
    struct writer *writer = user;
    char name[48];

    (void)to_ns;
    snprintf(name, sizeof(name), "%" PRIu64 " events lost", dropped);
    begin_event(writer, thread, INSTANT);
    put_text(&writer->event, 23, name);
    write_event(writer, from_ns);
}

static void write_process_track(struct writer *writer, const struct profile *profile, size_t number)
{
    char name[PART_NAME_SIZE];

    process_name(name, profile, number);
    put_number(&writer->inner, 1, profile->processes[number].header.pid);
    put_text(&writer->inner, 6, name);
    put_number(&writer->event, 1, writer->process_uuid);
    put_text(&writer->event, 2, name);
    put_message(&writer->event, 3, &writer->inner);
    put_message(&writer->packet, 60, &writer->event);
    write_packet(writer);
}

static void write_thread_track(struct writer *writer, const struct process *process, size_t thread)
{
    const struct trace_thread *record = &process->threads[thread].record;
    char name[PART_NAME_SIZE];

    thread_name(name, record);
    put_number(&writer->inner, 1, process->header.pid);
    put_number(&writer->inner, 2, record->tid);
    put_text(&writer->inner, 5, name);
    put_number(&writer->event, 1, writer->process_uuid + thread + 1);
    put_text(&writer->event, 2, name);
    put_message(&writer->event, 4, &writer->inner);
    put_number(&writer->event, 5, writer->process_uuid);
    put_message(&writer->packet, 60, &writer->event);
    write_packet(writer);
}

static bool write_process(struct writer *writer, const struct view *view, size_t number)
{
    const struct time_line_visitor visitor = {writer, write_begin, write_end, write_gap};
    const struct time_line_range range = {view->from_ns, view->to_ns, 0};
    const struct profile *profile = view->profile;
    const struct process *process = &profile->processes[number];
    struct time_line_facts *facts = memory_zeroed(process->thread_count, sizeof(*facts));
    struct event_totals totals;
    struct failure failure;
    bool is_sound;

    writer->process_uuid = (uint64_t)(number + 1) << 32;
    write_process_track(writer, profile, number);
    for (size_t i = 0; i < process->thread_count; i++)
        if (!profile->selection ||
            selection_match_thread(profile->selection, &process->threads[i].record))
            write_thread_track(writer, process, i);
    is_sound = time_line_walk(profile, number, &range, &visitor, facts, &totals, &failure);
    if (!is_sound)
        view->say(&failure);
    free(facts);
    return is_sound;
}

bool perfetto_write(FILE *stream, const struct view *view)
{
    struct writer writer = {.stream = stream, .images = view->images};
    bool is_sound = true;

    writer.is_interned = memory_zeroed(images_function_count(view->images), 1);
    for (size_t i = 0; i < view->profile->process_count; i++)
        if (view->profile->processes[i].nodes && !write_process(&writer, view, i))
            is_sound = false;
    free(writer.packet.bytes);
    free(writer.event.bytes);
    free(writer.inner.bytes);
    free(writer.is_interned);
    return is_sound;
}
