#include "trace/event_codec.h"

#include <string.h>

/* Numbers of the shape column. */
enum shape {
    SHAPE_END_OF_INNERMOST = 0,
    SHAPE_END_OF_NODE = 1,
    SHAPE_UNWOUND = 2,
    SHAPE_NEW_NODE = 3,
    SHAPE_IDS = 4,
};

/* Words up to the last one that is not zero. */
static size_t words_in_use(const uint64_t *words, size_t count)
{
    while (count > 0 && !words[count - 1])
        count--;
    return count;
}

uint32_t event_words_read(const uint64_t *words, size_t count, uint64_t base, event_sink *sink,
                          void *user)
{
    bool is_unwound = false;
    uint32_t torn = 0;

    count = words_in_use(words, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t word = words[i];
        struct event event = {base + (uint32_t)word, (uint32_t)(word >> EVENT_NODE_SHIFT),
                              EVENT_KIND_ENTRY};

        if (!word) {
            torn++;
            continue;
        }
        if (!event.node) {
            is_unwound = (uint32_t)word == EVENT_UNWOUND;
            if ((uint32_t)word == EVENT_BASE && i + 1 < count)
                base = words[++i];
            continue;
        }
        if (word & EVENT_END)
            event.kind = is_unwound ? EVENT_KIND_UNWOUND : EVENT_KIND_EXIT;
        is_unwound = false;
        if (!sink(user, &event))
            break;
    }
    return torn;
}

static void put(uint8_t *column, size_t *bytes, uint64_t number)
{
    while (number >= 0x80) {
        column[(*bytes)++] = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    column[(*bytes)++] = (uint8_t)number;
}

static void put_shape(struct event_columns *columns, uint64_t number)
{
    put(columns->shape, &columns->shape_bytes, number);
}

#define FARTHEST 64 /* open calls that an end is looked for in */

/* An end that is not the innermost call's: those above it are gone, if it is found near the top. */
static uint32_t open_after_end(const uint32_t *open, uint32_t count, uint32_t node)
{
    uint32_t lowest = count > FARTHEST ? count - FARTHEST : 0;

    for (uint32_t i = count; i > lowest; i--)
        if (open[i - 1] == node)
            return i - 1;
    return count;
}

static void encode_entry(struct event_columns *columns, uint32_t node)
{
    uint32_t at = node * 0x9e3779b1u >> 18; /* 14 bits: EVENT_IDS */

    while (columns->ids[at].node && columns->ids[at].node != node)
        at = (at + 1) % EVENT_IDS;
    if (columns->ids[at].node) {
        put_shape(columns, SHAPE_IDS + (uint64_t)columns->ids[at].id);
    } else {
        columns->ids[at].node = node;
        columns->ids[at].id = columns->id_count++;
        put_shape(columns, SHAPE_NEW_NODE);
        put_shape(columns, node);
    }
    columns->open[columns->open_count++] = node;
}

static void encode_end(struct event_columns *columns, uint32_t node)
{
    if (columns->open_count > 0 && columns->open[columns->open_count - 1] == node) {
        columns->open_count--;
        put_shape(columns, SHAPE_END_OF_INNERMOST);
        return;
    }
    columns->open_count = open_after_end(columns->open, columns->open_count, node);
    put_shape(columns, SHAPE_END_OF_NODE);
    put_shape(columns, node);
}

static bool encode_event(void *user, const struct event *event)
{
    struct event_columns *columns = user;
    int64_t since = (int64_t)(event->ticks - columns->last_ticks);

    if (event->kind == EVENT_KIND_UNWOUND)
        put_shape(columns, SHAPE_UNWOUND);
    if (event->kind == EVENT_KIND_ENTRY)
        encode_entry(columns, event->node);
    else
        encode_end(columns, event->node);
    put(columns->times, &columns->times_bytes, (uint64_t)since << 1 ^ (uint64_t)(since >> 63));
    columns->last_ticks = event->ticks;
    columns->events++;
    return true;
}

void event_encode(struct event_columns *columns, const uint64_t *words, size_t count, uint64_t base)
{
    columns->shape_bytes = columns->times_bytes = 0;
    columns->events = columns->id_count = 0;
    columns->open_count = 0;
    columns->last_ticks = base;
    memset(columns->ids, 0, sizeof(columns->ids));
    columns->torn = event_words_read(words, count, base, encode_event, columns);
}

struct column {
    const uint8_t *at, *end;
};

static bool get(struct column *column, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 64 && column->at < column->end; shift += 7) {
        uint8_t byte = *column->at++;

        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

struct decoding {
    struct event_decoder *decoder;
    struct column shape;
    uint32_t id_count, open_count;
};

static bool get_node(struct decoding *decoding, uint32_t *node)
{
    uint64_t number;

    if (!get(&decoding->shape, &number) || !number || number > EVENT_LARGEST_NODE)
        return false;
    *node = (uint32_t)number;
    return true;
}

static bool decode_entry(struct decoding *decoding, uint64_t shape, struct event *event)
{
    struct event_decoder *decoder = decoding->decoder;

    event->kind = EVENT_KIND_ENTRY;
    if (shape == SHAPE_NEW_NODE) {
        if (decoding->id_count == EVENT_SEGMENT_WORDS || !get_node(decoding, &event->node))
            return false;
        decoder->nodes[decoding->id_count++] = event->node;
    } else {
        if (shape - SHAPE_IDS >= decoding->id_count)
            return false;
        event->node = decoder->nodes[shape - SHAPE_IDS];
    }
    if (decoding->open_count == EVENT_SEGMENT_WORDS)
        return false;
    decoder->open[decoding->open_count++] = event->node;
    return true;
}

static bool decode_end(struct decoding *decoding, uint64_t shape, struct event *event)
{
    event->kind = EVENT_KIND_EXIT;
    if (shape == SHAPE_UNWOUND) {
        event->kind = EVENT_KIND_UNWOUND;
        if (!get(&decoding->shape, &shape))
            return false;
    }
    if (shape == SHAPE_END_OF_NODE) {
        if (!get_node(decoding, &event->node))
            return false;
        decoding->open_count =
            open_after_end(decoding->decoder->open, decoding->open_count, event->node);
        return true;
    }
    if (shape != SHAPE_END_OF_INNERMOST || !decoding->open_count)
        return false;
    event->node = decoding->decoder->open[--decoding->open_count];
    return true;
}

bool event_decode(struct event_decoder *decoder, const uint8_t *shape, size_t shape_bytes,
                  const uint8_t *times, size_t times_bytes, uint64_t base, uint32_t events,
                  event_sink *sink, void *user)
{
    struct decoding decoding = {.decoder = decoder, .shape = {shape, shape + shape_bytes}};
    struct column time = {times, times + times_bytes};
    struct event event = {.ticks = base};
    uint64_t number;

    for (uint32_t i = 0; i < events; i++) {
        if (!get(&decoding.shape, &number) ||
            !(number >= SHAPE_NEW_NODE ? decode_entry(&decoding, number, &event)
                                       : decode_end(&decoding, number, &event)) ||
            !get(&time, &number))
            return false;
        event.ticks += number >> 1 ^ -(number & 1);
        if (!sink(user, &event))
            return true;
    }
    return decoding.shape.at == decoding.shape.end && time.at == time.end;
}
