#include "grinder/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/bounded_file.h"
#include "grinder/images.h"
#include "grinder/memory.h"
#include "grinder/message.h"
#include "grinder/tree.h"
#include "trace/sample_format.h"

#define MOST_DISPLACED                                                                             \
    64 /* bytes of a stub behind its frame: instructions fixed up, and a jump                      \
        */

/* What is known of an image's addresses, once one of them was asked for. */
struct image_map {
    uint32_t *numbers;  /* by place in the manifest: among all functions, 0 if never recorded */
    struct stub *stubs; /* ascending; all from the first one on was added to the original */
    uint32_t stub_count;
};

struct stub {
    uint32_t rva;
    uint32_t place; /* of its function in the manifest */
};

struct finder {
    const struct tree *tree;
    const struct images *images;
    struct image_map *maps; /* by image */
};

enum whereabouts { IN_FUNCTION, IN_HOOKS, ELSEWHERE };

static int compare_stubs(const void *left, const void *right)
{
    const struct stub *a = left, *b = right;

    return (a->rva > b->rva) - (a->rva < b->rva);
}

static void map_stubs(struct image_map *map, const struct manifest *manifest)
{
    map->stubs = memory_zeroed(manifest->function_count + 1u, sizeof(*map->stubs));
    for (uint32_t i = 0; i < manifest->function_count; i++)
        if (manifest->functions[i].stub_rva)
            map->stubs[map->stub_count++] = (struct stub){manifest->functions[i].stub_rva, i};
    qsort(map->stubs, map->stub_count, sizeof(*map->stubs), compare_stubs);
}

static struct image_map *map_of(struct finder *finder, uint32_t image)
{
    const struct manifest *manifest = &finder->images->images[image].manifest;
    struct image_map *map = &finder->maps[image];

    if (map->numbers)
        return map;
    map->numbers = memory_zeroed(manifest->function_count + 1u, sizeof(*map->numbers));
    for (uint32_t i = 1; i < images_function_count(finder->images); i++) {
        const struct function *function = &finder->images->functions[i];
        if (function->image == image && function->index < manifest->function_count)
            map->numbers[function->index] = i;
    }
    map_stubs(map, manifest);
    return map;
}

/* Place of the last function at or below rva; the count of all if there is none. */
static uint32_t function_at(const struct manifest *manifest, uint32_t rva)
{
    uint32_t low = 0, high = manifest->function_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (manifest->functions[middle].rva <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : manifest->function_count;
}

/* In what was added. A stub ends with the function's own first instructions; the very first of them
   waits for the jump out of the hook, and that time is the hook's. */
static enum whereabouts find_in_stubs(const struct image_map *map, uint32_t rva, uint32_t *number)
{
    uint32_t low = 0, high = map->stub_count, distance;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (map->stubs[middle].rva <= rva)
            low = middle;
        else
            high = middle;
    }
    distance = rva - map->stubs[low].rva;
    *number = map->numbers[map->stubs[low].place];
    if (distance <= STUB_FRAME_SIZE || distance > STUB_FRAME_SIZE + MOST_DISPLACED || !*number)
        return IN_HOOKS;
    return IN_FUNCTION;
}

static enum whereabouts find_in_image(struct finder *finder, uint32_t image, uint32_t rva,
                                      uint32_t *number)
{
    const struct manifest *manifest = &finder->images->images[image].manifest;
    const struct image_map *map = map_of(finder, image);
    uint32_t place = function_at(manifest, rva);
    const struct manifest_function *function = &manifest->functions[place];

    if (map->stub_count && rva >= map->stubs[0].rva)
        return find_in_stubs(map, rva, number);
    if (place == manifest->function_count || function->state != FUNCTION_HOOKED ||
        (function->size && rva - function->rva >= function->size))
        return ELSEWHERE;
    *number = map->numbers[place];
    return *number ? IN_FUNCTION : ELSEWHERE;
}

/* The one that was seen last, as another may have been there before; instrumented ones come last,
   and were first seen as if they were not. */
static const struct tree_module *module_at(const struct tree *tree, uint64_t address)
{
    for (size_t i = tree->module_count; i-- > 1;) {
        const struct tree_module *module = &tree->modules[i];
        if (address - module->base < module->size && !module->rva)
            return module;
    }
    return NULL;
}

static int is_agent(const struct tree_module *module)
{
    const char *name = strrchr(module->path, '/');

    return !strcmp(name ? name + 1 : module->path, IMAGE_AGENT_NAME);
}

static enum whereabouts find_address(struct finder *finder, uint64_t address, uint32_t *number)
{
    const struct tree_module *module = module_at(finder->tree, address);
    const struct trace_header *header = &finder->tree->header;

    if (address - header->thunks < header->thunks_size)
        return IN_HOOKS;
    if (!module)
        return ELSEWHERE;
    if (!module->image)
        return is_agent(module) ? IN_HOOKS : ELSEWHERE;
    if (finder->images->images[module->image].problem)
        return ELSEWHERE;
    return find_in_image(finder, module->image, (uint32_t)(address - module->base), number);
}

static enum whereabouts find_sample(struct finder *finder, const struct sample *sample,
                                    uint32_t *number)
{
    enum whereabouts where = find_address(finder, sample->address, number);

    if (where != ELSEWHERE || !sample->caller)
        return where;
    return find_address(finder, sample->caller - 1, number) == IN_FUNCTION ? IN_FUNCTION
                                                                           : ELSEWHERE;
}

/* Null if no thread of that number was recorded. */
static struct thread_samples *samples_of_thread(struct tree *tree, uint32_t tid)
{
    for (size_t i = tree->thread_count; i-- > 0;)
        if (tree->threads[i].record.tid == tid)
            return &tree->threads[i].samples;
    return NULL;
}

static int compare_functions(const void *left, const void *right)
{
    const struct function_samples *a = left, *b = right;

    return (a->function > b->function) - (a->function < b->function);
}

/* Sorts, and makes one of those of the same function. */
static void add_up(struct thread_samples *thread)
{
    size_t count = 0;

    qsort(thread->functions, thread->count, sizeof(*thread->functions), compare_functions);
    for (size_t i = 0; i < thread->count; i++) {
        if (count && thread->functions[count - 1].function == thread->functions[i].function)
            thread->functions[count - 1].count += thread->functions[i].count;
        else
            thread->functions[count++] = thread->functions[i];
    }
    thread->count = count;
}

/* samples: all of one thread. */
static void add_thread(struct finder *finder, struct thread_samples *thread,
                       const struct sample *samples, size_t count, double period_ns)
{
    thread_samples_free(thread);
    thread->functions = memory_zeroed(count, sizeof(*thread->functions));
    for (size_t i = 0; i < count; i++) {
        uint32_t number = 0;
        switch (find_sample(finder, &samples[i], &number)) {
        case IN_FUNCTION:
            thread->in_functions += samples[i].count;
            thread->functions[thread->count++] =
                (struct function_samples){number, samples[i].count};
            break;
        case IN_HOOKS:
            thread->in_hooks += samples[i].count;
            break;
        case ELSEWHERE:
            thread->elsewhere += samples[i].count;
            break;
        }
    }
    add_up(thread);
    if (thread->in_functions)
        thread->period_ns = period_ns * (double)(thread->in_functions + thread->elsewhere) /
                            (double)thread->in_functions;
}

static char *path_of_samples(const char *trace)
{
    size_t length = strlen(trace), size = length + sizeof(SAMPLES_SUFFIX);
    char *path = memory_zeroed(size, 1);

    if (length >= 4 && !strcmp(trace + length - 4, ".bin"))
        length -= 4;
    snprintf(path, size, "%.*s%s", (int)length, trace, SAMPLES_SUFFIX);
    return path;
}

static int is_of_this_trace(const struct samples_header *header, const struct tree *tree)
{
    return header->created_ns == tree->header.created_ns && header->pid == tree->header.pid;
}

/* The entries, to be freed; null after a message, or without one if there is no such file. */
static struct sample *read_file(const char *path, const struct tree *tree,
                                struct samples_header *header)
{
    struct bounded_file file;
    struct sample *samples = NULL;
    const char *why;

    if (bounded_file_open(&file, path, &why) < 0)
        return NULL;
    if (bounded_file_read(&file, header, sizeof(*header), 0) == 0 &&
        !memcmp(header->magic, SAMPLES_MAGIC, sizeof(header->magic)) &&
        header->version == SAMPLES_VERSION)
        samples = bounded_file_copy(&file, sizeof(*header),
                                    (uint64_t)header->entry_count * sizeof(*samples));
    bounded_file_close(&file);
    if (!samples) {
        message("%s: expected samples, found something else or a damaged file; leaving it out",
                path);
    } else if (!is_of_this_trace(header, tree)) {
        message("%s: expected the samples of %s, found those of another recording; leaving it out",
                path, tree->path);
        free(samples);
        samples = NULL;
    }
    return samples;
}

static double period_of(const struct samples_header *header)
{
    double taken = header->taken ? (double)header->taken : 1;

    return (double)header->period_ns * (taken + (double)header->lost) / taken;
}

void samples_read(struct tree *tree, const struct images *images)
{
    struct finder finder = {tree, images, memory_zeroed(images->count, sizeof(*finder.maps))};
    char *path = path_of_samples(tree->path);
    struct samples_header header;
    struct sample *samples = read_file(path, tree, &header);

    for (size_t first = 0, end; samples && first < header.entry_count; first = end) {
        struct thread_samples *thread = samples_of_thread(tree, samples[first].tid);
        for (end = first; end < header.entry_count && samples[end].tid == samples[first].tid;)
            end++;
        if (thread)
            add_thread(&finder, thread, samples + first, end - first, period_of(&header));
    }
    for (size_t i = 0; i < images->count; i++) {
        free(finder.maps[i].numbers);
        free(finder.maps[i].stubs);
    }
    free(finder.maps);
    free(samples);
    free(path);
}

void thread_samples_free(struct thread_samples *samples)
{
    free(samples->functions);
    *samples = (struct thread_samples){0};
}
