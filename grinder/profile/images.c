#include "grinder/profile/images.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grinder/base/message.h"
#include "grinder/image/function_starts.h"
#include "grinder/image/image_file.h"
#include "grinder/symbols/jit_read.h"
#include "image/debug_file.h"
#include "support/memory.h"

#define NOWHERE "cannot be found from here: --path-map=FROM=TO says where"
#define CHANGED "has changed since it was recorded"

static struct image *append(struct images *images, const char *path)
{
    struct image *image;

    images->images =
        memory_grow(images->images, images->count, &images->room, sizeof(*images->images));
    image = &images->images[images->count++];
    *image = (struct image){.path = memory_copy_string(path), .recorded = memory_copy_string(path)};
    return image;
}

void images_begin(struct images *images)
{
    *images = (struct images){0};
    append(images, "unknown")->problem = memory_copy_string("is in no module of the trace");
    images->functions = memory_grow(NULL, 0, &images->function_room, sizeof(*images->functions));
    images->functions[pair_index_add(&images->numbers, 0, 0)] = (struct function){0};
}

void images_free(struct images *images)
{
    for (size_t i = 0; i < images->count; i++) {
        free(images->images[i].path);
        free(images->images[i].recorded);
        free(images->images[i].file);
        free(images->images[i].problem);
        manifest_free(&images->images[i].manifest);
        loaded_ranges_free(&images->images[i].ranges);
        line_table_free(&images->images[i].lines);
        if (images->images[i].jit)
            jit_map_free(images->images[i].jit);
        free(images->images[i].jit);
        for (uint32_t j = 0; images->images[i].listed && j < images->images[i].function_count; j++)
            free(images->images[i].listed[j].name);
        free(images->images[i].listed);
    }
    for (size_t i = 0; i < images->numbers.count; i++) {
        free(images->functions[i].name);
        free(images->functions[i].symbol);
        free(images->functions[i].aliases);
    }
    free(images->images);
    free(images->functions);
    pair_index_free(&images->numbers);
    *images = (struct images){0};
}

/* A file of the same path that holds something else must not lend its names. */
static bool take_manifest(struct image *image, const struct image_file *file,
                          struct failure *failure)
{
    if (!image_file_manifest(file, &image->manifest, failure))
        return false;
    if (image->manifest.head->original_hash != image->original_hash ||
        image->manifest.function_count != image->function_count) {
        manifest_free(&image->manifest);
        return fail_because(failure, CHANGED);
    }
    image_file_ranges(file, &image->ranges);
    return true;
}

/* Fills in the image, or its problem, from its file. */
static void read_image(struct image *image,
                       bool (*take)(struct image *image, const struct image_file *file,
                                    struct failure *failure))
{
    struct failure failure;
    struct image_file file;
    bool is_taken = false;

    if (!image->file) {
        fail_because(&failure, NOWHERE);
    } else if (image_file_open(&file, image->file, &failure)) {
        is_taken = take(image, &file, &failure);
        image_file_close(&file);
    }
    free(image->problem);
    image->problem = is_taken ? NULL : memory_copy_string(failure.text);
}

/* Where two maps are of the same path, as for two recordings that are compared, the file is that of
   the one whose manifest was recorded. */
static void read_mapped(struct image *image, const char *const *path_maps)
{
    image->file = recorded_path_find(image->recorded, image->system, path_maps);
    read_image(image, take_manifest);
    for (; image->problem && path_maps && *path_maps; path_maps++) {
        const char *const one[] = {*path_maps, NULL};
        char *problem = memory_copy_string(image->problem);
        char *first = image->file;
        image->file = recorded_path_find(image->recorded, image->system, one);
        if (image->file && (!first || strcmp(image->file, first) != 0))
            read_image(image, take_manifest);
        if (!image->problem) {
            free(first);
            free(problem);
            break;
        }
        free(image->file);
        free(image->problem);
        image->file = first;
        image->problem = problem;
    }
}

/* The process had mapped the original, and the instrumented file lies beside its trace. */
static void show_original(struct image *image)
{
    const char *path = manifest_original_path(&image->manifest);

    if (!path)
        return;
    free(image->path);
    image->path = memory_copy_string(path);
}

uint32_t images_add(struct images *images, const char *path, enum trace_system system,
                    const struct trace_module *module)
{
    struct image *image;

    for (size_t i = 1; i < images->count; i++) {
        image = &images->images[i];
        if (!image->listed && image->original_hash == module->original_hash &&
            image->function_count == module->function_count && !strcmp(image->recorded, path))
            return (uint32_t)i;
    }
    image = append(images, path);
    image->system = system;
    image->original_hash = module->original_hash;
    image->function_count = module->function_count;
    image->build_id_size = module->build_id_size;
    memcpy(image->build_id, module->build_id, sizeof(image->build_id));
    read_mapped(image, images->path_maps);
    if (image->problem)
        message("%s: %s; its functions are shown by number%s", path, image->problem,
                module->flags & TRACE_MODULE_COUNTED ? ", and have too few instructions" : "");
    else if (image->manifest.is_away)
        show_original(image);
    return (uint32_t)(images->count - 1);
}

static bool is_same_build(const struct image *image)
{
    struct build_id wanted = {.size = image->build_id_size};

    memcpy(wanted.bytes, image->build_id, wanted.size);
    return !wanted.size || build_id_is_of(image->file, &wanted);
}

static bool take_functions(struct image *image, const struct image_file *file,
                           struct failure *failure)
{
    if (!is_same_build(image))
        return fail_because(failure, CHANGED);
    if (!image_file_ranges(file, &image->ranges))
        return fail_because(failure, "has headers that make no sense");
    if (function_starts_read(&image->manifest, file, &image->ranges))
        return true;
    loaded_ranges_free(&image->ranges);
    return fail_because(failure, "has no code");
}

/* The instrumented image that is the same file at the same addresses; 0: there is none. */
static uint32_t instrumented_of(const struct images *images, const struct image *plain)
{
    for (size_t i = 1; i < images->count; i++) {
        const struct image *image = &images->images[i];
        if (!image->is_plain && !image->is_jit && !image->problem &&
            image->manifest.head->preferred_base == plain->ranges.base &&
            !strcmp(image->path, plain->path))
            return (uint32_t)i;
    }
    return 0;
}

/* A map may lead to what was instrumented: that lies in a recording, and the original where it was.
 */
static char *original_file(const char *path, const char *const *path_maps)
{
    if (access(path, R_OK) == 0)
        return memory_copy_string(path);
    return recorded_path_find(path, TRACE_SYSTEM_LINUX, path_maps);
}

static bool has_build_id(const struct image *image, const uint8_t *build_id, uint32_t size)
{
    return image->build_id_size == size && !memcmp(image->build_id, build_id, size);
}

/* A trace may call one file by names without end. 0: it is new. */
static uint32_t same_file(const struct images *images, struct image *plain)
{
    struct stat status;

    if (!plain->file || stat(plain->file, &status) < 0)
        return 0;
    plain->device = status.st_dev;
    plain->inode = status.st_ino;
    for (size_t i = 1; i < images->count; i++) {
        const struct image *image = &images->images[i];
        if (image != plain && image->is_plain && image->inode == plain->inode &&
            image->device == plain->device &&
            has_build_id(image, plain->build_id, plain->build_id_size))
            return (uint32_t)i;
    }
    return 0;
}

uint32_t images_add_plain(struct images *images, const char *path, const uint8_t *build_id,
                          uint32_t build_id_size)
{
    struct image *image;
    uint32_t same;

    for (size_t i = 1; i < images->count; i++) {
        image = &images->images[i];
        if (image->is_plain && has_build_id(image, build_id, build_id_size) &&
            !strcmp(image->path, path))
            return (uint32_t)i;
    }
    image = append(images, path);
    image->is_plain = true;
    image->build_id_size = build_id_size;
    memcpy(image->build_id, build_id, build_id_size);
    image->file = original_file(path, images->path_maps);
    same = same_file(images, image);
    if (same) {
        free(image->path);
        free(image->recorded);
        free(image->file);
        images->count--;
        return same;
    }
    read_image(image, take_functions);
    if (images->joins && !image->problem)
        image->counted_as = instrumented_of(images, image);
    if (image->problem)
        message("%s: %s; its functions have no names", path, image->problem);
    return (uint32_t)(images->count - 1);
}

static bool read_jit(struct jit_map *map, const char *path, int name, struct failure *failure)
{
    struct bounded_file file;
    bool is_read;

    if (!(name < 0 ? bounded_file_open(&file, path, failure)
                   : bounded_file_take(&file, name, path, failure)))
        return false;
    is_read = jit_map_read(map, &file, failure);
    bounded_file_close(&file);
    return is_read;
}

uint32_t images_add_jit(struct images *images, const char *path, int name)
{
    struct jit_map map;
    struct failure failure;
    struct image *image;

    for (size_t i = 1; i < images->count; i++)
        if (images->images[i].is_jit && !strcmp(images->images[i].path, path))
            return (uint32_t)i;
    image = append(images, path);
    image->is_jit = true;
    image->problem = memory_copy_string("is code made at run time");
    if (!read_jit(&map, path, name, &failure)) {
        message("%s: %s; callers in code made at run time have no names", path, failure.text);
        return (uint32_t)(images->count - 1);
    }
    if (map.bad)
        message("%s: %zu lines or records make no sense and are left out", path, map.bad);
    image->jit = memory_zeroed(1, sizeof(*image->jit));
    *image->jit = map;
    return (uint32_t)(images->count - 1);
}

uint32_t images_add_listed(struct images *images, const char *name)
{
    append(images, name)->problem = memory_copy_string("is of a baseline");
    return (uint32_t)(images->count - 1);
}

uint32_t images_list(struct images *images, uint32_t number, uint64_t code, const char *name)
{
    struct image *image = &images->images[number];

    image->listed = memory_grow(image->listed, image->function_count, &image->listed_room,
                                sizeof(*image->listed));
    image->listed[image->function_count] =
        (struct listed_function){code, name ? memory_copy_utf8(name) : NULL};
    return image->function_count++;
}

bool images_are_same(const struct image *left, const struct image *right)
{
    return left->original_hash == right->original_hash &&
           left->function_count == right->function_count && !strcmp(left->path, right->path);
}

uint32_t images_function(struct images *images, uint32_t image, uint32_t index)
{
    const struct manifest *manifest = &images->images[image].manifest;
    size_t before = images->numbers.count;
    uint32_t number = pair_index_add(&images->numbers, (uint64_t)image + 1, index);

    if (number < before)
        return number;
    images->functions =
        memory_grow(images->functions, number, &images->function_room, sizeof(*images->functions));
    images->functions[number] = (struct function){.image = image, .index = index};
    if (index < manifest->function_count)
        images->functions[number].rva = manifest->functions[index].rva;
    else if (images->images[image].jit)
        images->functions[number].rva = images->images[image].jit->codes[index].rva;
    return number;
}

uint32_t images_recorded(const struct images *images, uint32_t image, uint32_t index)
{
    uint32_t number;

    return pair_index_find(&images->numbers, (uint64_t)image + 1, index, &number) ? number : 0;
}

size_t images_function_count(const struct images *images)
{
    return images->numbers.count;
}

const char *image_name(const struct image *image)
{
    return recorded_path_name(image->path, image->system);
}
