#include "grinder/profile/samples.h"

#include <stdlib.h>
#include <string.h>

#include "grinder/base/message.h"
#include "grinder/profile/traces.h"
#include "support/bounded_file.h"
#include "support/memory.h"
#include "support/sorted.h"
#include "trace/agent_name.h"
#include "trace/sample_format.h"

/* Bytes of a stub behind its frame: instructions fixed up, and a jump; of a copied function the
   jump only. */
#define MOST_DISPLACED 64
#define JUMP_SIZE      5

struct stub {
    uint32_t rva;
    uint32_t place; /* of its function in the manifest */
};

/* The stubs of an image, once one of its addresses was asked for. All from the first one on was
   added to the original. */
struct stubs {
    struct stub *stubs; /* ascending */
    uint32_t count;
};

struct finder {
    const struct tree *tree;
    const struct images *images;
    struct stubs *stubs; /* by image */
};

enum whereabouts { IN_FUNCTION, IN_HOOKS, ELSEWHERE };

static int compare_stubs(const void *left, const void *right)
{
    const struct stub *a = left, *b = right;

    return (a->rva > b->rva) - (a->rva < b->rva);
}

static const struct stubs *stubs_of(struct finder *finder, uint32_t image)
{
    const struct manifest *manifest = &finder->images->images[image].manifest;
    struct stubs *stubs = &finder->stubs[image];

    if (stubs->stubs)
        return stubs;
    stubs->stubs = memory_zeroed(manifest->function_count + 1u, sizeof(*stubs->stubs));
    for (uint32_t i = 0; i < manifest->function_count; i++)
        if (manifest->functions[i].stub_rva)
            stubs->stubs[stubs->count++] = (struct stub){manifest->functions[i].stub_rva, i};
    qsort(stubs->stubs, stubs->count, sizeof(*stubs->stubs), compare_stubs);
    return stubs;
}

/* Place of the last function at or below rva; the count of all if there is none. */
static uint32_t function_at(const struct manifest *manifest, uint32_t rva)
{
    size_t behind = partition_point(i, manifest->function_count, manifest->functions[i].rva <= rva);

    return behind ? (uint32_t)behind - 1 : manifest->function_count;
}

/* The place of the function whose first instructions are at rva, in what was added; the count of
   all if none are. A stub ends with them; the very first waits for the jump out of the hook, and
   that time is the hook's. */
static uint32_t function_of_stub(const struct manifest *manifest, const struct stubs *stubs,
                                 uint32_t rva)
{
    size_t behind = partition_point(i, stubs->count, stubs->stubs[i].rva <= rva);
    const struct stub *stub = &stubs->stubs[behind ? behind - 1 : 0];
    uint32_t distance = rva - stub->rva;
    uint32_t most = manifest_copy_of(manifest, stub->place) ? JUMP_SIZE : MOST_DISPLACED;

    return distance > manifest->stub_frame && distance < manifest->stub_frame + most
               ? stub->place
               : manifest->function_count;
}

/* Parts of functions that were put elsewhere belong to no function, copied or not. */
static enum whereabouts find_in_copy(struct finder *finder, uint32_t image, uint32_t place,
                                     uint32_t *number)
{
    if (finder->images->images[image].manifest.functions[place].state == FUNCTION_HOOKED)
        *number = images_recorded(finder->images, image, place);
    return *number ? IN_FUNCTION : ELSEWHERE;
}

static enum whereabouts find_in_image(struct finder *finder, uint32_t image, uint32_t rva,
                                      uint32_t *number)
{
    const struct manifest *manifest = &finder->images->images[image].manifest;
    const struct manifest_copy *copy = manifest_copy_at(manifest, rva);
    const struct stubs *stubs = stubs_of(finder, image);
    bool is_added = stubs->count && rva >= stubs->stubs[0].rva;
    uint32_t place = is_added ? function_of_stub(manifest, stubs, rva) : function_at(manifest, rva);
    const struct manifest_function *function = &manifest->functions[place];

    if (copy)
        return find_in_copy(finder, image, copy->function, number);
    if (place < manifest->function_count && function->state == FUNCTION_HOOKED &&
        (is_added || !function->size || rva - function->rva < function->size))
        *number = images_recorded(finder->images, image, place);
    if (*number)
        return IN_FUNCTION;
    return is_added ? IN_HOOKS : ELSEWHERE;
}

/* The module that was seen last: another may have been there before. An instrumented one has two
   records; in the first, which was made when it was mapped, it is not instrumented. */
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

    return agent_name_is(name ? name + 1 : module->path);
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
    thread->cpu_ns =
        (uint64_t)((double)(thread->in_functions + thread->in_hooks + thread->elsewhere) *
                   period_ns);
    if (thread->in_functions)
        thread->period_ns = period_ns * (double)(thread->in_functions + thread->elsewhere) /
                            (double)thread->in_functions;
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
    struct failure failure;

    if (!bounded_file_open(&file, path, &failure))
        return NULL;
    if (bounded_file_read(&file, header, sizeof(*header), 0) == 0 &&
        !memcmp(header->magic, SAMPLES_MAGIC, sizeof(header->magic)) &&
        header->version == SAMPLES_VERSION)
        samples = bounded_file_copy(&file, sizeof(*header),
                                    (uint64_t)header->entry_count * sizeof(*samples));
    bounded_file_close(&file);
    if (!samples) {
        message("%s: expected samples, found something else or a damaged file; leaving it out; "
                "times of short calls are rough without",
                path);
    } else if (!is_of_this_trace(header, tree)) {
        message("%s: expected the samples of %s, found those of another recording; leaving it "
                "out; a trace has its own samples beside it, moved and renamed together",
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
    char *path = trace_beside(tree->path, SAMPLES_SUFFIX);
    struct samples_header header;
    struct sample *samples = read_file(path, tree, &header);
    struct finder finder = {tree, images, memory_zeroed(images->count, sizeof(*finder.stubs))};

    for (size_t first = 0, end; samples && first < header.entry_count; first = end) {
        struct thread_samples *thread = samples_of_thread(tree, samples[first].tid);
        for (end = first; end < header.entry_count && samples[end].tid == samples[first].tid;)
            end++;
        if (thread)
            add_thread(&finder, thread, samples + first, end - first, period_of(&header));
    }
    for (size_t i = 0; i < images->count; i++)
        free(finder.stubs[i].stubs);
    free(finder.stubs);
    free(samples);
    free(path);
}
