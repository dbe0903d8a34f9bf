#include "grinder/profile/stacked_tree.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "grinder/base/message.h"
#include "grinder/base/pair_index.h"
#include "grinder/profile/code_ranges.h"
#include "grinder/profile/jit_maps.h"
#include "grinder/profile/mapped_base.h"
#include "grinder/profile/traces.h"
#include "grinder/unwind/unwind.h"
#include "image/elf_wide.h"
#include "support/memory.h"
#include "support/regular_file.h"
#include "support/sorted.h"

/* Code that is in no file, and that no map names. */
#define NO_MODULE 0

/* More than a process may have at a time. What makes more over time makes them of the same
   addresses, and the service leaves out what is nothing new. */
#define MOST_MAPPINGS 65536
#define MOST_CONTEXTS (1u << 22) /* of a process: some 500 MB */

/* One for each mapping of the file, in order. */
struct mapped {
    uint64_t address, length;
    uint32_t module; /* place in tree.modules */
};

struct adder {
    struct tree *tree;
    struct images *images;
    struct stacks_file file;
    struct mapped *mapped;
    struct unwind_module *to_unwind;
    size_t mapped_count, mapped_room, unwind_room;
    size_t left_out; /* mappings: there are too many */
    int *files;      /* of each image: -1: it is not open */
    size_t file_count, file_room;
    struct code_ranges code; /* as of the sample that is added */
    size_t known;            /* so many of the mappings are in it */
    size_t module_room, context_room;
    uint32_t *jit_images; /* those of code made at run time */
    size_t jit_count;
    uint32_t *jit_modules;      /* of each of these */
    struct pair_index children; /* (parent << 32 | function), site: context first + number */
    size_t first;
    uint64_t whole;
    bool is_full; /* there are no more contexts */
};

static uint32_t add_module(struct adder *adder, const char *path, uint64_t base, uint64_t size,
                           uint32_t image, uint32_t rva)
{
    struct tree *tree = adder->tree;

    tree->modules =
        memory_grow(tree->modules, tree->module_count, &adder->module_room, sizeof(*tree->modules));
    tree->modules[tree->module_count] = (struct tree_module){
        .path = memory_copy_string(path), .base = base, .size = size, .image = image, .rva = rva};
    return (uint32_t)tree->module_count++;
}

/* The module of an image at a base: one for all of its pieces. */
static uint32_t module_at(struct adder *adder, uint32_t image, uint64_t base)
{
    const struct image *at = &adder->images->images[image];

    if (adder->images->joins)
        image = at->counted_as;
    for (size_t i = adder->tree->module_count; i-- > 1;)
        if (adder->tree->modules[i].image == image && adder->tree->modules[i].base == base)
            return (uint32_t)i;
    return add_module(adder, at->path, base, at->ranges.end - at->ranges.base, image, 0);
}

static bool is_file(const char *path)
{
    return path[0] == '/' && path[1] != '/' && strncmp(path, "/dev/zero", 9) != 0 &&
           strncmp(path, "/memfd:", 7) != 0;
}

/* The image's first instruction, as linked; 0: it has none. */
static uint64_t entry_of(int file)
{
    const struct bounded_file whole = {.fd = file, .size = UINT64_MAX};
    Elf64_Ehdr header;

    return file >= 0 && elf_header_read(&header, &whole) ? header.e_entry : 0;
}

/* However often the image is mapped it is open once. */
static int file_of(struct adder *adder, uint32_t image)
{
    while (adder->file_count <= image) {
        adder->files =
            memory_grow(adder->files, adder->file_count, &adder->file_room, sizeof(*adder->files));
        adder->files[adder->file_count++] = -1;
    }
    if (adder->files[image] < 0)
        adder->files[image] = regular_file_open(adder->images->images[image].file);
    return adder->files[image];
}

/* What is no file's is nobody's module, and takes the place of what was there. */
static void add_mapping(struct adder *adder, const struct stacks_mapping *mapping)
{
    struct mapped mapped = {mapping->address, mapping->length, NO_MODULE};
    struct unwind_module to_unwind = {
        .fd = -1, .name = "", .address = mapping->address, .length = mapping->length};
    const struct image *image;
    uint32_t number;
    uint64_t base;

    if (is_file(mapping->path)) {
        number = images_add_plain(adder->images, mapping->path, mapping->build_id,
                                  mapping->build_id_size);
        image = &adder->images->images[number];
        if (!image->problem && mapped_base(&image->ranges, mapping, &base)) {
            mapped.module = module_at(adder, number, base);
            to_unwind.fd = file_of(adder, number);
            to_unwind.name = image->path;
            to_unwind.bias = base - image->ranges.base;
            to_unwind.entry = entry_of(to_unwind.fd);
            if (to_unwind.entry)
                to_unwind.entry += to_unwind.bias;
        }
    }
    adder->to_unwind = memory_grow(adder->to_unwind, adder->mapped_count, &adder->unwind_room,
                                   sizeof(*adder->to_unwind));
    adder->to_unwind[adder->mapped_count] = to_unwind;
    adder->mapped =
        memory_grow(adder->mapped, adder->mapped_count, &adder->mapped_room, sizeof(mapped));
    adder->mapped[adder->mapped_count++] = mapped;
}

/* Names are the images', which move as more are added. */
static void name_modules(struct adder *adder)
{
    for (size_t i = 0; i < adder->mapped_count; i++)
        if (adder->mapped[i].module)
            adder->to_unwind[i].name = adder->tree->modules[adder->mapped[i].module].path;
}

static void read_mappings(struct adder *adder)
{
    struct stacks_mapping mapping;
    struct stacks_sample sample;
    const struct stacks_dump *dump;
    int kind;

    while ((kind = stacks_file_next(&adder->file, &mapping, &sample, &dump)))
        if (kind == STACKS_MAP && adder->mapped_count < MOST_MAPPINGS)
            add_mapping(adder, &mapping);
        else if (kind == STACKS_MAP)
            adder->left_out++;
    name_modules(adder);
}

static void know(struct adder *adder, size_t known)
{
    for (; adder->known < known && adder->known < adder->mapped_count; adder->known++) {
        const struct mapped *mapped = &adder->mapped[adder->known];
        code_ranges_put(&adder->code, mapped->address, mapped->length, mapped->module);
    }
}

static uint32_t find_jit(const struct adder *adder, uint64_t address, uint32_t *function)
{
    for (size_t i = 0; i < adder->jit_count; i++) {
        const struct jit_map *map = adder->images->images[adder->jit_images[i]].jit;
        const struct jit_code *code = jit_map_find(map, address);
        if (!code)
            continue;
        *function = images_function(adder->images, adder->jit_images[i], code->function);
        return adder->jit_modules[i];
    }
    return NO_MODULE;
}

/* A function that was counted, where calls are another recording's; 0: none, so that the time is
   its caller's. */
static uint32_t find_counted(const struct adder *adder, uint64_t address, uint32_t *function)
{
    uint32_t number = code_ranges_find(&adder->code, address);
    const struct tree_module *module = &adder->tree->modules[number];
    const struct manifest *manifest = &adder->images->images[module->image].manifest;
    const struct manifest_function *found;
    size_t behind;

    *function = 0;
    if (!number || !module->image)
        return NO_MODULE;
    address -= module->base;
    behind = partition_point(i, manifest->function_count, manifest->functions[i].rva <= address);
    if (!behind)
        return NO_MODULE;
    found = &manifest->functions[behind - 1];
    if (found->state == FUNCTION_HOOKED && (!found->size || address - found->rva < found->size))
        *function = images_function(adder->images, module->image, (uint32_t)behind - 1);
    return number;
}

/* Function 0 of image 0 has all that is not known. */
static uint32_t find_function(const struct adder *adder, uint64_t address, uint32_t *function)
{
    uint32_t number = code_ranges_find(&adder->code, address);
    const struct tree_module *module = &adder->tree->modules[number];
    const struct manifest *manifest;
    size_t behind;

    if (!number) {
        number = find_jit(adder, address, function);
        if (!number)
            *function = images_function(adder->images, 0, 0);
        return number;
    }
    manifest = &adder->images->images[module->image].manifest;
    behind = partition_point(i, manifest->function_count,
                             manifest->functions[i].rva <= address - module->base);
    *function = images_function(adder->images, behind ? module->image : 0,
                                behind ? (uint32_t)behind - 1 : 0);
    return number;
}

/* For a context: it is there, or may be added. */
static bool has_room(const struct adder *adder, uint32_t parent, uint64_t site, uint32_t function)
{
    uint32_t number;

    return adder->children.count < MOST_CONTEXTS ||
           pair_index_find(&adder->children, (uint64_t)parent << 32 | function, site, &number);
}

static uint32_t child_of(struct adder *adder, uint32_t parent, uint64_t site, uint32_t module,
                         uint32_t function)
{
    struct tree *tree = adder->tree;
    uint32_t slot = (uint32_t)adder->first +
                    pair_index_add(&adder->children, (uint64_t)parent << 32 | function, site);

    if (slot < tree->context_count)
        return slot;
    tree->contexts = memory_grow(tree->contexts, tree->context_count, &adder->context_room,
                                 sizeof(*tree->contexts));
    tree->contexts[slot] = (struct context){.site = site,
                                            .parent = parent,
                                            .sibling = tree->contexts[parent].first_child,
                                            .function = function,
                                            .module = module};
    tree->contexts[parent].first_child = slot;
    tree->context_count++;
    tree->committed++;
    return slot;
}

static struct tree_thread *thread_of(struct tree *tree, uint32_t tid)
{
    for (size_t i = tree->thread_count; i-- > 0;)
        if (tree->threads[i].record.tid == tid)
            return &tree->threads[i];
    return NULL;
}

/* From the outermost frame in. A site is a return address, behind where the call was. Where there
   are too many contexts, the time is the caller's. */
static void add_sample(void *owner, const struct unwound *unwound)
{
    struct adder *adder = owner;
    struct tree *tree = adder->tree;
    struct tree_thread *thread = thread_of(tree, unwound->sample->tid);
    uint32_t slot = thread ? thread->root : 0;
    const uint64_t *frames = unwound->frames;
    uint64_t site = 0;

    know(adder, unwound->known);
    if (!slot)
        return;
    for (uint32_t i = unwound->count; i-- > 0; site = frames[i] + 1) {
        uint32_t function, before = tree->contexts[slot].function;
        uint32_t module = adder->images->joins ? find_counted(adder, frames[i], &function)
                                               : find_function(adder, frames[i], &function);
        if (!function)
            continue;
        if (!module && slot != thread->root && before == function && !tree->contexts[slot].module)
            continue; /* what is not known is one */
        if (!has_room(adder, slot, site & TRACE_SITE_ADDRESS, function)) {
            adder->is_full = true;
            break;
        }
        slot = child_of(adder, slot, site & TRACE_SITE_ADDRESS, module, function);
    }
    tree->contexts[slot].calls++;
    tree->contexts[slot].exits++;
    tree->contexts[slot].timed++;
    tree->contexts[slot].ticks += adder->file.header.period_ns;
    thread->entries++;
    thread->exits++;
    thread->timed++;
    if (unwound->count)
        tree_add_hit(tree, &(struct tree_hit){unwound->sample->time, frames[0],
                                              adder->file.header.period_ns, slot,
                                              thread->record.ordinal});
    adder->whole += unwound->is_whole;
}

static void find_jits(struct adder *adder)
{
    adder->jit_images = jit_maps_of(adder->tree, adder->images, &adder->jit_count);
    adder->jit_modules = memory_zeroed(adder->jit_count + 1, sizeof(*adder->jit_modules));
    for (size_t i = 0; i < adder->jit_count; i++)
        adder->jit_modules[i] = add_module(adder, adder->images->images[adder->jit_images[i]].path,
                                           0, 0, adder->jit_images[i], 0);
}

static void add_stacks(struct adder *adder, const char *path)
{
    const struct unwound_receiver receiver = {add_sample, adder};
    struct failure failure;

    read_mappings(adder);
    find_jits(adder);
    if (!unwind_stacks(&receiver, &adder->file, adder->to_unwind, adder->mapped_count, &failure))
        message("%s: %s; samples from there on have no callers", path, failure.text);
    if (adder->left_out)
        message("%s: %zu mappings more than %u are left out", path, adder->left_out, MOST_MAPPINGS);
    if (adder->is_full)
        message("%s: more than %u calling contexts; what others take is their callers'", path,
                MOST_CONTEXTS);
    adder->tree->stacks = (struct stack_facts){
        .whole = adder->whole,
        .lost = adder->file.header.lost,
        .user_only = adder->file.header.user_only,
    };
}

static void adder_free(struct adder *adder)
{
    for (size_t i = 0; i < adder->file_count; i++)
        if (adder->files[i] >= 0)
            close(adder->files[i]);
    free(adder->files);
    code_ranges_free(&adder->code);
    free(adder->to_unwind);
    free(adder->mapped);
    free(adder->jit_images);
    free(adder->jit_modules);
    pair_index_free(&adder->children);
    stacks_file_close(&adder->file);
}

/* Each image is open here, and once more in the process that follows stacks. */
static void allow_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void stacked_tree_add(struct tree *tree, struct images *images)
{
    struct adder adder = {
        .tree = tree,
        .images = images,
        .module_room = tree->module_count,
        .context_room = tree->context_count,
        .first = tree->context_count,
    };
    char *path;
    struct failure failure;

    if (tree->header.source != TRACE_OF_STACKS)
        return;
    allow_files();
    path = trace_beside(tree->path, STACKS_SUFFIX);
    if (!stacks_file_open(&adder.file, path, &failure))
        message("%s: %s; %s has no samples without it", path, failure.text, tree->path);
    else if (adder.file.header.created_ns != tree->header.created_ns ||
             adder.file.header.pid != tree->header.pid)
        message("%s: expected the stacks of %s, found those of another recording; a trace has its "
                "own stacks beside it, moved and renamed together",
                path, tree->path);
    else
        add_stacks(&adder, path);
    adder_free(&adder);
    free(path);
}
