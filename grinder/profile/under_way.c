#include "grinder/profile/under_way.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/base/message.h"
#include "grinder/profile/mapped_base.h"
#include "grinder/unwind/unwind.h"
#include "image/debug_file.h"
#include "image/elf_wide.h"
#include "image/loaded_ranges.h"
#include "support/memory.h"
#include "support/regular_file.h"
#include "support/sorted.h"

#define FOLDER "images-" /* of the instrumented files, and a number */

/* A call under way, from the thread's start inwards. */
struct under_way {
    uint32_t slot, function;
    uint32_t last; /* its last child; 0: it has none */
};

struct adding {
    struct tree *tree;
    struct images *images;
    struct stacks_file file;
    struct unwind_module *to_unwind; /* for each mapping of the file, in order */
    size_t mapping_count, mapping_room;
    size_t context_room;
    struct under_way calls[UNWIND_MOST_FRAMES]; /* of the thread that is looked at */
    size_t count;
};

/* FOLDER/under-way, where one of the images is FOLDER/NUMBER/NAME; null: none is. To be freed. */
static char *find_file(const struct tree *tree, const struct images *images)
{
    for (size_t i = 1; i < tree->module_count; i++) {
        const struct image *image = &images->images[tree->modules[i].image];
        char *path, *slash = NULL;

        if (!tree->modules[i].image || !image->file || !strstr(image->file, "/" FOLDER))
            continue;
        path = memory_zeroed(strlen(image->file) + sizeof(STACKS_UNDER_WAY) + 1, 1);
        strcpy(path, image->file);
        for (int up = 0; up < 2 && (slash = strrchr(path, '/')); up++)
            *slash = 0;
        if (slash && (slash = strrchr(path, '/')) && !strncmp(slash + 1, FOLDER, strlen(FOLDER))) {
            strcat(path, "/" STACKS_UNDER_WAY);
            return path;
        }
        free(path);
    }
    return NULL;
}

static uint32_t module_at(const struct tree *tree, uint64_t address)
{
    for (size_t i = 1; i < tree->module_count; i++)
        if (tree->modules[i].image && address - tree->modules[i].base < tree->modules[i].size)
            return (uint32_t)i;
    return 0;
}

/* Whatever became of it: hooked, left alone, left out. 0: it is in no function that is known. */
static uint32_t function_at(struct adding *adding, uint64_t address, uint32_t *module)
{
    const struct tree_module *found;
    const struct manifest *manifest;
    size_t behind;

    *module = module_at(adding->tree, address);
    if (!*module)
        return 0;
    found = &adding->tree->modules[*module];
    manifest = &adding->images->images[found->image].manifest;
    behind = partition_point(i, manifest->function_count,
                             manifest->functions[i].rva <= address - found->base);
    return behind ? images_function(adding->images, found->image, (uint32_t)behind - 1) : 0;
}

/* The original, of which the process has mapped what says how to unwind. image: null if nothing is
   recorded of it. -1: it is not that file any more, or none. */
static int open_original(const struct image *image, const struct stacks_mapping *mapping,
                         const char **name)
{
    struct build_id wanted = {.size = image ? image->build_id_size : 0};

    *name = image ? image->path : mapping->path;
    if (image)
        memcpy(wanted.bytes, image->build_id, wanted.size);
    return **name == '/' && (!wanted.size || build_id_is_of(*name, &wanted))
               ? regular_file_open(*name)
               : -1;
}

/* False: it is no image that has such code. */
static bool find_place(struct unwind_module *module, const struct stacks_mapping *mapping)
{
    struct bounded_file file;
    struct loaded_ranges ranges;
    struct failure ignored;
    Elf64_Ehdr header;
    uint64_t base;
    bool is_found;

    if (!bounded_file_open(&file, module->name, &ignored))
        return false;
    is_found = elf_header_read(&header, &file) && loaded_ranges_read(&ranges, &file);
    bounded_file_close(&file);
    if (!is_found)
        return false;
    is_found = mapped_base(&ranges, mapping, &base);
    if (is_found) {
        module->bias = base - ranges.base;
        module->entry = header.e_entry ? header.e_entry + module->bias : 0;
    }
    loaded_ranges_free(&ranges);
    return is_found;
}

static void add_mapping(struct adding *adding, const struct stacks_mapping *mapping)
{
    uint32_t module = module_at(adding->tree, mapping->address);
    const struct image *image =
        module ? &adding->images->images[adding->tree->modules[module].image] : NULL;
    struct unwind_module to_unwind = {.address = mapping->address, .length = mapping->length};

    to_unwind.fd = open_original(image, mapping, &to_unwind.name);
    if (to_unwind.fd >= 0 && !find_place(&to_unwind, mapping)) {
        close(to_unwind.fd);
        to_unwind.fd = -1;
    }
    adding->to_unwind = memory_grow(adding->to_unwind, adding->mapping_count, &adding->mapping_room,
                                    sizeof(*adding->to_unwind));
    adding->to_unwind[adding->mapping_count++] = to_unwind;
}

static void read_mappings(struct adding *adding)
{
    struct stacks_mapping mapping;
    struct stacks_sample sample;
    const struct stacks_dump *dump;
    int kind;

    while ((kind = stacks_file_next(&adding->file, &mapping, &sample, &dump)))
        if (kind == STACKS_MAP)
            add_mapping(adding, &mapping);
}

static void add_context(struct adding *adding, uint32_t parent, uint64_t site, uint32_t module,
                        uint32_t function)
{
    struct tree *tree = adding->tree;
    uint32_t slot = (uint32_t)tree->context_count;

    tree->contexts =
        memory_grow(tree->contexts, slot, &adding->context_room, sizeof(*tree->contexts));
    tree->contexts[slot] = (struct context){.site = CONTEXT_UNDER_WAY | (site & TRACE_SITE_ADDRESS),
                                            .parent = parent,
                                            .function = function,
                                            .module = module};
    tree->context_count++;
    adding->calls[adding->count++] = (struct under_way){slot, function, 0};
}

/* From the outermost in: of all but the innermost, where the next one returns to. */
static void add_calls(struct adding *adding, uint32_t root, const struct unwound *unwound)
{
    uint32_t parent = root;
    uint64_t site = 0;

    adding->count = 0;
    for (uint32_t i = unwound->count; i-- > 0; site = unwound->frames[i] + 1) {
        uint32_t module, function = function_at(adding, unwound->frames[i], &module);

        if (!function)
            continue;
        add_context(adding, parent, site, module, function);
        parent = adding->calls[adding->count - 1].slot;
    }
}

/* The innermost that may have made the call; null: none of them. */
static struct under_way *caller_of(struct adding *adding, const struct context *context)
{
    uint32_t module, function;

    if (context->site & (TRACE_SITE_TAIL | TRACE_SITE_FOLDED | TRACE_SITE_SHARED | CONTEXT_ADDED))
        return NULL;
    function = function_at(adding, (context->site & TRACE_SITE_ADDRESS) - 1, &module);
    for (size_t i = adding->count; function && i-- > 0;)
        if (adding->calls[i].function == function)
            return &adding->calls[i];
    return NULL;
}

static void append(struct tree *tree, uint32_t parent, uint32_t *last, uint32_t slot)
{
    *(*last ? &tree->contexts[*last].sibling : &tree->contexts[parent].first_child) = slot;
    *last = slot;
}

/* What is below the root, from a context on, goes to where it was called. */
static void move_children(struct adding *adding, uint32_t root)
{
    struct tree *tree = adding->tree;
    uint32_t last = 0, next;

    next = tree->contexts[root].first_child;
    tree->contexts[root].first_child = 0;
    append(tree, root, &last, adding->calls[0].slot);
    for (size_t i = 0; i + 1 < adding->count; i++)
        append(tree, adding->calls[i].slot, &adding->calls[i].last, adding->calls[i + 1].slot);
    for (uint32_t slot = next; slot; slot = next) {
        struct under_way *caller = caller_of(adding, &tree->contexts[slot]);

        next = tree->contexts[slot].sibling;
        tree->contexts[slot].sibling = 0;
        if (!caller) {
            append(tree, root, &last, slot);
            continue;
        }
        append(tree, caller->slot, &caller->last, slot);
        tree->contexts[slot].parent = caller->slot;
    }
}

static void add_thread(void *owner, const struct unwound *unwound)
{
    struct adding *adding = owner;
    const struct tree *tree = adding->tree;

    for (size_t i = tree->thread_count; i-- > 0;) {
        if (tree->threads[i].record.tid != unwound->sample->tid || !tree->threads[i].root)
            continue;
        add_calls(adding, tree->threads[i].root, unwound);
        if (adding->count)
            move_children(adding, tree->threads[i].root);
        return;
    }
}

static void add_all(struct adding *adding, const char *path)
{
    const struct unwound_receiver receiver = {add_thread, adding};
    struct failure failure;

    read_mappings(adding);
    if (!unwind_stacks(&receiver, &adding->file, adding->to_unwind, adding->mapping_count,
                       &failure))
        message("%s: %s; calls that were under way are not all known", path, failure.text);
    for (size_t i = 0; i < adding->mapping_count; i++)
        if (adding->to_unwind[i].fd >= 0)
            close(adding->to_unwind[i].fd);
    free(adding->to_unwind);
}

void under_way_add(struct tree *tree, struct images *images)
{
    struct adding *adding;
    struct failure failure;
    char *path = find_file(tree, images);

    if (!path || access(path, F_OK)) {
        free(path);
        return;
    }
    adding = memory_zeroed(1, sizeof(*adding));
    adding->tree = tree;
    adding->images = images;
    adding->context_room = tree->context_count;
    if (stacks_file_open(&adding->file, path, &failure)) {
        if (adding->file.header.pid == tree->header.pid) /* else it is a child's trace */
            add_all(adding, path);
        stacks_file_close(&adding->file);
    } else {
        message("%s: %s; calls that were under way are not known", path, failure.text);
    }
    free(adding);
    free(path);
}
