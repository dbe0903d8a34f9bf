/*
 * speedscope's file format (file-format-schema.json): frames shared by all profiles, and a profile
 * of weighted stacks for each part.
 *
 *      { "$schema": …, "exporter": …, "name": …,
 *        "shared": { "frames": [ {"name": "main", "file": "/home/me/fib.c", "line": 12}, … ] },
 *        "profiles": [ { "type": "sampled", "name": "fib 4711: main", "unit": "nanoseconds",
 *                        "startValue": 0, "endValue": 5000,
 *                        "samples": [[0], [0, 1]], "weights": [1000, 4000] }, … ] }
 *
 * Frames are numbered as they are met, stack by stack.
 */
#include "grinder/formats/format.h"

#include <inttypes.h>
#include <stdlib.h>

#include "grinder/formats/part_name.h"
#include "grinder/profile/symbolize.h"
#include "support/memory.h"
#include "support/utf8.h"

struct frames {
    const struct images *images;
    uint32_t *numbers; /* by function, + 1; 0: not in any stack */
    uint32_t count;
};

static void write_frame(FILE *stream, struct frames *frames, uint32_t function)
{
    struct place place = {0};

    if (frames->numbers[function])
        return;
    fprintf(stream, "%s\n{\"name\":", frames->count ? "," : "");
    frames->numbers[function] = ++frames->count;
    utf8_write_json(stream, stack_frame_name(frames->images, function));
    if (function != STACK_CUT)
        place = place_of_function(frames->images, function);
    if (place.file_number) {
        fputs(",\"file\":", stream);
        utf8_write_json(stream, place.file);
        fprintf(stream, ",\"line\":%" PRIu32, place.line);
    }
    putc('}', stream);
}

static void write_samples(FILE *stream, const struct view *view, const struct frames *frames,
                          const struct stack_tree *stacks)
{
    const char *separator = "";

    for (uint32_t i = 1; i < stacks->keys.count; i++) {
        struct stack_frames spelt;
        if (!weight_of(view->weight, &stacks->costs[i]))
            continue;
        stack_spell(stacks, i, &spelt);
        fprintf(stream, "%s\n[", separator);
        for (size_t j = 0; j < spelt.count; j++)
            fprintf(stream, "%s%" PRIu32, j ? "," : "", frames->numbers[spelt.functions[j]] - 1);
        putc(']', stream);
        separator = ",";
    }
}

static void write_weights(FILE *stream, const struct view *view, const struct stack_tree *stacks)
{
    const char *separator = "";

    for (uint32_t i = 1; i < stacks->keys.count; i++) {
        uint64_t weight = weight_of(view->weight, &stacks->costs[i]);
        if (!weight)
            continue;
        fprintf(stream, "%s%" PRIu64, separator, weight);
        separator = ",\n";
    }
}

static void write_profile(FILE *stream, const struct view *view, const struct frames *frames,
                          const struct part *part)
{
    const struct stack_cost all = {
        .calls = part->calls, .self_ns = part->ns, .instructions = part->instructions};
    char name[PART_NAME_SIZE];

    part_name(name, view->profile, part);
    fputs("{\"type\":\"sampled\",\"name\":", stream);
    utf8_write_json(stream, name);
    fprintf(stream, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
            view->weight == WEIGHT_NS ? "nanoseconds" : "none", weight_of(view->weight, &all));
    write_samples(stream, view, frames, &part->stacks);
    fputs("],\n\"weights\":[", stream);
    write_weights(stream, view, &part->stacks);
    fputs("]}", stream);
}

void speedscope_write(FILE *stream, const struct view *view)
{
    const struct part *parts = &view->profile->parts[view->first];
    struct frames frames = {.images = view->images};

    frames.numbers = memory_zeroed(images_function_count(view->images), sizeof(*frames.numbers));
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
          "\"exporter\":\"umbra grinder " UMBRA_VERSION "\",\n\"name\":",
          stream);
    utf8_write_json(stream, view->profile->processes[0].header.command);
    fputs(",\n\"shared\":{\"frames\":[", stream);
    for (size_t i = 0; i < view->count; i++)
        for (uint32_t j = 1; j < parts[i].stacks.keys.count; j++)
            write_frame(stream, &frames, stack_function(&parts[i].stacks, j));
    fputs("]},\n\"profiles\":[", stream);
    for (size_t i = 0; i < view->count; i++) {
        fputs(i ? ",\n" : "\n", stream);
        write_profile(stream, view, &frames, &parts[i]);
    }
    fputs("]}\n", stream);
    free(frames.numbers);
}
