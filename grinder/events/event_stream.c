#include "grinder/events/event_stream.h"

#include <stdlib.h>

#include "support/memory.h"

static struct event_batch *batch_at(const struct event_stream *stream, size_t number)
{
    return &stream->batches[number % EVENT_STREAM_BATCHES];
}

static void finish_batch(struct event_stream *stream)
{
    if (!stream->filling)
        return;
    stream->filling = NULL;
    pthread_mutex_lock(&stream->lock);
    stream->filled++;
    pthread_cond_signal(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
}

static void begin_batch(struct event_stream *stream, uint32_t thread, uint64_t dropped)
{
    struct event_batch *batch = batch_at(stream, stream->filled);

    pthread_mutex_lock(&stream->lock);
    while (stream->filled - stream->used == EVENT_STREAM_BATCHES)
        pthread_cond_wait(&stream->changed, &stream->lock);
    pthread_mutex_unlock(&stream->lock);
    batch->thread = thread;
    batch->dropped = dropped;
    batch->count = 0;
    stream->filling = batch;
}

static bool is_wanted(void *user, uint32_t thread)
{
    const struct event_stream *stream = user;

    return !stream->only || stream->only == thread;
}

static void see_segment(void *user, uint32_t thread, uint64_t sequence, uint64_t dropped)
{
    (void)sequence;
    finish_batch(user);
    begin_batch(user, thread, dropped);
}

static void see_event(void *user, uint32_t thread, const struct event *event)
{
    struct event_stream *stream = user;
    struct event_batch *batch = stream->filling;

    if (batch->count == EVENT_STREAM_EVENTS) {
        finish_batch(stream);
        begin_batch(stream, thread, 0);
        batch = stream->filling;
    }
    batch->events[batch->count++] = *event;
}

static void *read_all(void *user)
{
    struct event_stream *stream = user;
    const struct event_visitor visitor = {stream, see_segment, see_event, is_wanted};

    stream->is_sound =
        event_files_read(stream->path, stream->header, &visitor, &stream->totals, &stream->failure);
    finish_batch(stream);
    pthread_mutex_lock(&stream->lock);
    stream->is_read = true;
    pthread_cond_signal(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    return NULL;
}

void event_stream_begin(struct event_stream *stream, const char *path,
                        const struct trace_header *header, uint32_t only)
{
    *stream = (struct event_stream){.path = path, .header = header, .only = only};
    stream->batches = memory_zeroed(EVENT_STREAM_BATCHES, sizeof(*stream->batches));
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    stream->has_reader = pthread_create(&stream->reader, NULL, read_all, stream) == 0;
    if (stream->has_reader)
        return;
    stream->is_read = true;
    fail_because(&stream->failure,
                 "expected to start a thread, found that the system has no room for one");
}

/* The batch handed out last stays the user's until now: `used` counts it only here. */
const struct event_batch *event_stream_next(struct event_stream *stream)
{
    bool there_is;

    pthread_mutex_lock(&stream->lock);
    if (stream->is_handed_out) {
        stream->used++;
        pthread_cond_signal(&stream->changed);
    }
    while (stream->filled == stream->used && !stream->is_read)
        pthread_cond_wait(&stream->changed, &stream->lock);
    there_is = stream->filled > stream->used;
    stream->is_handed_out = there_is;
    pthread_mutex_unlock(&stream->lock);
    return there_is ? batch_at(stream, stream->used) : NULL;
}

bool event_stream_end(struct event_stream *stream)
{
    if (stream->has_reader)
        pthread_join(stream->reader, NULL);
    pthread_mutex_destroy(&stream->lock);
    pthread_cond_destroy(&stream->changed);
    free(stream->batches);
    return stream->is_sound;
}
