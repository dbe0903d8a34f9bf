#include "service/attach/function_calls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/trace_format.h"

#define AT_ONCE        64 /* blocks */
#define MOST_IMAGES    4096
#define MOST_FUNCTIONS (1u << 22) /* the trace is the program's to write */

static bool add_image(struct function_calls *calls, const struct trace_module *module)
{
    struct called_image *grown;
    size_t end = (size_t)module->first_function + module->function_count;
    uint64_t *counts;

    if (!module->first_function || calls->image_count == MOST_IMAGES || end > MOST_FUNCTIONS)
        return true;
    grown = realloc(calls->images, (calls->image_count + 1) * sizeof(*grown));
    if (!grown)
        return false;
    calls->images = grown;
    grown[calls->image_count++] =
        (struct called_image){module->base, module->first_function, module->function_count};
    if (end <= calls->count)
        return true;
    counts = realloc(calls->calls, end * sizeof(*counts));
    if (!counts)
        return false;
    memset(counts + calls->count, 0, (end - calls->count) * sizeof(*counts));
    calls->calls = counts;
    calls->count = end;
    return true;
}

static bool add_modules(struct function_calls *calls, const char *block, uint32_t used)
{
    for (uint32_t unit = 1; unit + sizeof(struct trace_module) / TRACE_UNIT <= used;) {
        const struct trace_module *module =
            (const struct trace_module *)(block + (size_t)unit * TRACE_UNIT);

        if (!module->size_units)
            return true;
        if (!add_image(calls, module))
            return false;
        unit += module->size_units;
    }
    return true;
}

/* A call of a module that is not there yet is counted at the next look. */
static void add_nodes(struct function_calls *calls, const char *block, uint32_t unit, uint32_t used)
{
    for (; unit < used; unit++) {
        const struct trace_node *node =
            (const struct trace_node *)(block + (size_t)unit * TRACE_UNIT);
        uint32_t number = node->function & TRACE_FUNCTION_NUMBER;

        if (node->context && number && number < calls->count)
            calls->calls[number] += node->calls + node->passed;
    }
}

static bool add_block(struct function_calls *calls, const char *bytes, bool is_for_modules)
{
    const struct trace_block *block = (const struct trace_block *)bytes;
    uint32_t used = block->used < TRACE_BLOCK_UNITS ? block->used : TRACE_BLOCK_UNITS;

    if (is_for_modules)
        return block->kind != TRACE_BLOCK_MODULES || add_modules(calls, bytes, used);
    if (block->kind == TRACE_BLOCK_THREAD)
        add_nodes(calls, bytes, TRACE_FIRST_NODE, used);
    else if (block->kind == TRACE_BLOCK_NODES)
        add_nodes(calls, bytes, 1, used);
    return true;
}

static bool each_block(struct function_calls *calls, int trace, uint64_t used, char *buffer,
                       bool is_for_modules)
{
    for (uint64_t at = TRACE_HEADER_SIZE; at + TRACE_BLOCK_SIZE <= used;) {
        uint64_t left = (used - at) / TRACE_BLOCK_SIZE * TRACE_BLOCK_SIZE;
        size_t size = left < (uint64_t)AT_ONCE * TRACE_BLOCK_SIZE
                          ? (size_t)left
                          : (size_t)AT_ONCE * TRACE_BLOCK_SIZE;

        if (pread(trace, buffer, size, (off_t)at) != (ssize_t)size)
            return false;
        for (size_t i = 0; i < size; i += TRACE_BLOCK_SIZE)
            if (!add_block(calls, buffer + i, is_for_modules))
                return false;
        at += size;
    }
    return true;
}

bool function_calls_read(struct function_calls *calls, int trace)
{
    uint64_t used = 0;
    char *buffer = malloc((size_t)AT_ONCE * TRACE_BLOCK_SIZE);
    bool is_read;

    *calls = (struct function_calls){0};
    is_read =
        buffer &&
        pread(trace, &used, sizeof(used), offsetof(struct trace_header, used)) == sizeof(used) &&
        each_block(calls, trace, used, buffer, true) &&
        each_block(calls, trace, used, buffer, false);
    free(buffer);
    if (!is_read)
        function_calls_free(calls);
    return is_read;
}

void function_calls_free(struct function_calls *calls)
{
    free(calls->calls);
    free(calls->images);
    *calls = (struct function_calls){0};
}

const struct called_image *function_calls_image(const struct function_calls *calls,
                                                uint32_t function)
{
    for (size_t i = 0; i < calls->image_count; i++)
        if (function - calls->images[i].first_function < calls->images[i].function_count)
            return &calls->images[i];
    return NULL;
}
