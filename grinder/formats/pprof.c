/*
 * pprof's profile.proto, gzipped.
 *
 * Messages of protocol buffers that are written one behind the other are one message with the
 * repeated fields of all: so each sample, function and string is packed as a Profile that holds
 * nothing else, and memory does not grow with the profile. A string's number is its place among
 * all strings written so far.
 *
 * Up to three figures a sample: calls; instructions, where they are counted; nanoseconds ("time";
 * "cpu" where they are of the processor), where times are known. "process", "thread" and, as
 * threads share names, "tid" as labels of parts that are not merged. Locations and functions have
 * the same ids: a frame is a function, and its line the one where that begins. Id of function n is
 * n + 1.
 */
#include "grinder/formats/format.h"

#include <stdlib.h>
#include <string.h>

#include "grinder/formats/gzip_stream.h"
#include "grinder/formats/part_name.h"
#include "grinder/profile/symbolize.h"
#include "pprof.pb-c.h"
#include "support/memory.h"
#include "support/utf8.h"

/* For protobuf-c: base comes first. */
struct sink {
    ProtobufCBuffer base;
    struct gzip_stream gzip;
};

struct writer {
    struct sink sink;
    const struct view *view;
    int64_t string_count;
    uint8_t *has_function; /* by number */
    int64_t *files;        /* by file_number: its string, 0: none yet */
};

#define VALUES 3 /* at most */

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
    gzip_stream_write(&((struct sink *)buffer)->gzip, bytes, size);
}

static void write_fields(struct writer *writer, const Umbra__Pprof__Profile *fields)
{
    umbra__pprof__profile__pack_to_buffer(fields, &writer->sink.base);
}

/* Returns its number. */
static int64_t write_string(struct writer *writer, const char *text)
{
    Umbra__Pprof__Profile fields = UMBRA__PPROF__PROFILE__INIT;
    char *copy = memory_copy_utf8(text);

    fields.n_string_table = 1;
    fields.string_table = &copy;
    write_fields(writer, &fields);
    free(copy);
    return writer->string_count++;
}

static void write_value_type(struct writer *writer, const char *name, const char *unit)
{
    Umbra__Pprof__Profile fields = UMBRA__PPROF__PROFILE__INIT;
    Umbra__Pprof__ValueType type = UMBRA__PPROF__VALUE_TYPE__INIT, *types = &type;

    type.type = write_string(writer, name);
    type.unit = write_string(writer, unit);
    fields.n_sample_type = 1;
    fields.sample_type = &types;
    fields.default_sample_type = type.type; /* the last one written counts */
    write_fields(writer, &fields);
}

static void write_build_id(struct writer *writer, const struct image *image,
                           Umbra__Pprof__Mapping *mapping)
{
    char text[2 * sizeof(image->build_id) + 1];

    if (!image->build_id_size || image->build_id_size > sizeof(image->build_id))
        return;
    for (uint32_t i = 0; i < image->build_id_size; i++)
        snprintf(text + 2 * i, 3, "%02x", image->build_id[i]);
    mapping->build_id = write_string(writer, text);
}

static void write_mapping(struct writer *writer, uint32_t number)
{
    const struct image *image = &writer->view->images->images[number];
    Umbra__Pprof__Profile fields = UMBRA__PPROF__PROFILE__INIT;
    Umbra__Pprof__Mapping mapping = UMBRA__PPROF__MAPPING__INIT, *mappings = &mapping;

    mapping.id = number;
    mapping.filename = write_string(writer, image->path);
    write_build_id(writer, image, &mapping);
    mapping.has_functions = 1;
    mapping.has_filenames = mapping.has_line_numbers = image->lines.file_count > 0;
    fields.n_mapping = 1;
    fields.mapping = &mappings;
    write_fields(writer, &fields);
}

/* The program's own; 0 if that is not instrumented. */
static uint32_t own_image(const struct view *view)
{
    const char *exe =
        view->profile->processes[view->profile->parts[view->first].process].header.exe;

    for (uint32_t i = 1; i < view->images->count; i++)
        if (!strcmp(view->images->images[i].path, exe))
            return i;
    return 0;
}

/* go tool pprof takes the first one for the program's own, and names the profile by it. */
static void write_mappings(struct writer *writer)
{
    uint32_t own = writer->view->count ? own_image(writer->view) : 0;

    if (own)
        write_mapping(writer, own);
    for (uint32_t i = 1; i < writer->view->images->count; i++)
        if (i != own)
            write_mapping(writer, i);
}

static int64_t file_string(struct writer *writer, const struct place *place)
{
    int64_t *string = &writer->files[place->file_number];

    if (place->file_number && !*string)
        *string = write_string(writer, place->file);
    return *string;
}

static void write_function(struct writer *writer, uint32_t number)
{
    const struct images *images = writer->view->images;
    struct place place = place_of_function(images, number);
    Umbra__Pprof__Profile fields = UMBRA__PPROF__PROFILE__INIT;
    Umbra__Pprof__Function function = UMBRA__PPROF__FUNCTION__INIT, *functions = &function;
    Umbra__Pprof__Location location = UMBRA__PPROF__LOCATION__INIT, *locations = &location;
    Umbra__Pprof__Line line = UMBRA__PPROF__LINE__INIT, *lines = &line;

    if (writer->has_function[number])
        return;
    writer->has_function[number] = 1;
    function.id = location.id = line.function_id = (uint64_t)number + 1;
    function.name = function.system_name = write_string(writer, stack_frame_name(images, number));
    function.filename = file_string(writer, &place);
    function.start_line = line.line = place.line;
    location.mapping_id = images->functions[number].image;
    location.n_line = 1;
    location.line = &lines;
    fields.n_function = fields.n_location = 1;
    fields.function = &functions;
    fields.location = &locations;
    write_fields(writer, &fields);
}

/* Returns how many there are, in the order of their types. */
static size_t values_of(const struct profile *profile, const struct stack_cost *cost,
                        int64_t values[VALUES])
{
    size_t count = 0;

    values[count++] = (int64_t)cost->calls;
    if (profile_has_instructions(profile))
        values[count++] = (int64_t)cost->instructions;
    if (profile_has_times(profile))
        values[count++] = (int64_t)cost->self_ns;
    return count;
}

/* count: of labels */
static void write_sample(struct writer *writer, const struct stack_tree *stacks, uint32_t stack,
                         Umbra__Pprof__Label **labels, size_t count)
{
    Umbra__Pprof__Profile fields = UMBRA__PPROF__PROFILE__INIT;
    Umbra__Pprof__Sample sample = UMBRA__PPROF__SAMPLE__INIT, *samples = &sample;
    int64_t values[VALUES];
    uint64_t locations[STACK_DEPTH + 1];

    sample.n_value = values_of(writer->view->profile, &stacks->costs[stack], values);
    while (stack) {
        uint32_t function = stack_function(stacks, stack);
        write_function(writer, function);
        locations[sample.n_location_id++] = (uint64_t)function + 1;
        stack = stack_parent(stacks, stack);
    }
    sample.location_id = locations;
    sample.value = values;
    sample.n_label = count;
    sample.label = labels;
    fields.n_sample = 1;
    fields.sample = &samples;
    write_fields(writer, &fields);
}

#define LABELS 3

static void write_part(struct writer *writer, const struct part *part, const int64_t keys[LABELS])
{
    const struct profile *profile = writer->view->profile;
    const struct process *process = &profile->processes[part->process];
    const struct trace_thread *thread = &process->threads[part->thread].record;
    Umbra__Pprof__Label labels[LABELS], *pointers[LABELS];
    char name[PART_NAME_SIZE];

    for (size_t i = 0; i < LABELS; i++) {
        umbra__pprof__label__init(&labels[i]);
        labels[i].key = keys[i];
        pointers[i] = &labels[i];
    }
    if (!profile->merged) {
        process_name(name, profile, part->process);
        labels[0].str = write_string(writer, name);
        thread_name(name, thread);
        labels[1].str = write_string(writer, name);
        labels[2].num = thread->tid;
    }
    for (uint32_t i = 1; i < part->stacks.keys.count; i++)
        if (part->stacks.costs[i].calls || part->stacks.costs[i].self_ns ||
            part->stacks.costs[i].instructions)
            write_sample(writer, &part->stacks, i, pointers, profile->merged ? 0 : LABELS);
}

static void write_times(struct writer *writer)
{
    const struct trace_header *header = &writer->view->profile->processes[0].header;
    uint64_t end = header->end_ticks ? header->end_ticks : header->end_seen_ticks;
    Umbra__Pprof__Profile fields = UMBRA__PPROF__PROFILE__INIT;

    fields.time_nanos = (int64_t)header->created_ns;
    if (end > header->start_ticks && header->ticks_per_second)
        fields.duration_nanos = (int64_t)((unsigned __int128)(end - header->start_ticks) *
                                          1000000000u / header->ticks_per_second);
    write_fields(writer, &fields);
}

void pprof_write(FILE *stream, const struct view *view)
{
    struct writer *writer = memory_zeroed(1, sizeof(*writer));
    static const char *const labels[LABELS] = {"process", "thread", "tid"};
    int64_t keys[LABELS];

    writer->view = view;
    writer->sink.base.append = append;
    writer->has_function = memory_zeroed(images_function_count(view->images), 1);
    writer->files = memory_zeroed(place_file_count(view->images), sizeof(*writer->files));
    gzip_stream_begin(&writer->sink.gzip, stream);
    write_string(writer, "");
    write_value_type(writer, profile_counts(view->profile), "count");
    if (profile_has_instructions(view->profile))
        write_value_type(writer, "instructions", "count");
    if (profile_has_times(view->profile))
        write_value_type(writer, profile_is_sampled(view->profile) ? "cpu" : "time", "nanoseconds");
    write_times(writer);
    for (size_t i = 0; i < LABELS; i++)
        keys[i] = write_string(writer, labels[i]);
    write_mappings(writer);
    for (size_t i = view->first; i < view->first + view->count; i++)
        write_part(writer, &view->profile->parts[i], keys);
    gzip_stream_end(&writer->sink.gzip);
    free(writer->has_function);
    free(writer->files);
    free(writer);
}
