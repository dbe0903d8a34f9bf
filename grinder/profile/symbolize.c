#include "grinder/profile/symbolize.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/profile/symbol_sources.h"
#include "grinder/symbols/demangle.h"
#include "support/memory.h"
#include "support/utf8.h"

struct address_list {
    uint64_t *items;
    size_t count, room;
};

/* The addresses of one image whose lines are wanted, and those among them whose inlined calls are.
 */
struct wanted {
    struct address_list lines, spots;
};

static uint64_t address_of_rva(const struct image *image, uint32_t rva)
{
    return image->jit ? rva : image->manifest.head->preferred_base + rva;
}

static void add(struct address_list *list, uint64_t address)
{
    list->items = memory_grow(list->items, list->count, &list->room, sizeof(*list->items));
    list->items[list->count++] = address;
}

static void want(struct images *images, struct wanted *wanted, uint32_t image, uint32_t rva)
{
    if (!images->images[image].problem || images->images[image].jit)
        add(&wanted[image].lines, address_of_rva(&images->images[image], rva));
}

static void want_spot(struct images *images, struct wanted *wanted, uint64_t spot)
{
    uint32_t image = (uint32_t)(spot >> 32), rva = (uint32_t)spot;

    want(images, wanted, image, rva);
    if (!images->images[image].problem)
        add(&wanted[image].spots, address_of_rva(&images->images[image], rva));
}

static struct wanted *gather_functions(struct images *images)
{
    struct wanted *wanted = memory_zeroed(images->count, sizeof(*wanted));

    for (size_t i = 1; i < images_function_count(images); i++)
        want(images, wanted, images->functions[i].image, images->functions[i].rva);
    return wanted;
}

static struct wanted *gather(struct images *images, const struct profile *profile)
{
    struct wanted *wanted = gather_functions(images);

    for (size_t p = 0; p < profile->part_count; p++) {
        const struct pair_index *edges = &profile->parts[p].edges.keys;
        for (size_t i = 0; i < edges->count; i++)
            want(images, wanted, (uint32_t)(edges->pairs[i].b >> 32), (uint32_t)edges->pairs[i].b);
        for (size_t i = 0; i < profile->parts[p].hits.count; i++)
            want_spot(images, wanted, profile->parts[p].hits.items[i].spot);
    }
    return wanted;
}

static char *name_without_symbol(const struct image *image, const struct function *function)
{
    char name[512];

    if (!function->image && !function->index) /* stacked_tree.c */
        return memory_copy_string("[code of no file]");
    if (image->listed)
        snprintf(name, sizeof(name), "%.400s!code:%016" PRIx64, image_name(image),
                 image->listed[function->index].code);
    else if (image->problem || function->index >= image->manifest.function_count)
        snprintf(name, sizeof(name), "%.400s!#%u", image_name(image), function->index);
    else
        snprintf(name, sizeof(name), "%.400s!%#" PRIx64, image_name(image),
                 address_of_rva(image, function->rva));
    return demangle(name);
}

/* An import is called what the caller calls it by; its own name is of another module. On Windows
   the slot says of which: KERNEL32.dll!ReadFile. */
static char *name_of_import(const char *symbol)
{
    const char *function = strchr(symbol, '!');
    char *name = demangle(function ? function + 1 : symbol), *whole;
    size_t size = strlen(symbol) + strlen(name) + sizeof("@plt");

    whole = memory_zeroed(1, size);
    if (function)
        snprintf(whole, size, "%.*s%s", (int)(function + 1 - symbol), symbol, name);
    else
        snprintf(whole, size, "%s@plt", name);
    utf8_sanitise(whole);
    free(name);
    return whole;
}

static void name_functions(struct images *images, uint32_t number,
                           const struct symbol_table *symbols)
{
    const struct image *image = &images->images[number];

    for (size_t i = 1; i < images_function_count(images); i++) {
        struct function *function = &images->functions[i];
        const char *symbol = NULL, *import = NULL;
        if (function->image != number)
            continue;
        if (image->jit) {
            function->name = memory_copy_string(image->jit->codes[function->index].name);
            function->symbol = memory_copy_string(function->name);
            continue;
        }
        if (image->listed && image->listed[function->index].name) {
            function->name = memory_copy_string(image->listed[function->index].name);
            continue;
        }
        if (!image->problem)
            import = manifest_import_name(&image->manifest, function->index);
        if (!image->problem && function->rva) {
            symbol = symbol_table_find(symbols, address_of_rva(image, function->rva));
            function->aliases = symbol_table_aliases(symbols, address_of_rva(image, function->rva));
        }
        if (import && !(symbol && strchr(symbol, '!')))
            symbol = import;
        if (symbol)
            function->symbol = memory_copy_string(symbol);
        if (import)
            function->name = name_of_import(symbol);
        else
            function->name = symbol ? demangle(symbol) : name_without_symbol(image, function);
    }
}

static void symbolize_image(struct images *images, uint32_t number, struct wanted *wanted,
                            const struct symbol_search *search)
{
    struct image *image = &images->images[number];
    struct symbol_table symbols = {0};

    line_table_begin(&image->lines, wanted->lines.items, wanted->lines.count);
    for (size_t i = 0; i < wanted->spots.count; i++)
        line_table_add_spot(&image->lines, wanted->spots.items[i]);
    free(wanted->spots.items);
    if (image->jit)
        jit_map_lines(image->jit, &image->lines);
    if (!image->problem)
        symbol_sources_read(image, search, &symbols);
    symbol_table_sort(&symbols);
    name_functions(images, number, &symbols);
    symbol_table_free(&symbols);
}

/* Frees what is wanted. */
static void symbolize_all(struct images *images, struct wanted *wanted,
                          const char *const *debug_dirs)
{
    const struct symbol_search search = {debug_dirs, images->path_maps};
    uint32_t files = 1;

    images->functions[0].name = memory_copy_string("(root)");
    for (uint32_t i = 0; i < images->count; i++) {
        symbolize_image(images, i, &wanted[i], &search);
        images->images[i].first_file = files;
        files += (uint32_t)images->images[i].lines.file_count;
    }
    free(wanted);
}

void symbolize(struct images *images, const struct profile *profile, const char *const *debug_dirs)
{
    symbolize_all(images, gather(images, profile), debug_dirs);
}

void symbolize_places(struct images *images, const uint64_t *places, size_t count,
                      const char *const *debug_dirs)
{
    struct wanted *wanted = gather_functions(images);

    for (size_t i = 0; i < count; i++)
        want(images, wanted, (uint32_t)(places[i] >> 32), (uint32_t)places[i]);
    symbolize_all(images, wanted, debug_dirs);
}

static struct place place_of_line(const struct image *image, struct line line)
{
    struct place place = {.file = "???"};

    if (line.file) {
        place.file = image->lines.files[line.file];
        place.file_number = image->first_file + line.file;
        place.line = line.line;
    }
    return place;
}

static struct place place_of_address(const struct images *images, uint32_t number, uint32_t rva)
{
    const struct image *image = &images->images[number];

    if (image->problem && !image->jit)
        return (struct place){.file = "???"};
    return place_of_line(image, line_table_find(&image->lines, address_of_rva(image, rva)));
}

void symbolize_forget(struct images *images)
{
    for (size_t i = 0; i < images_function_count(images); i++) {
        free(images->functions[i].name);
        free(images->functions[i].symbol);
        free(images->functions[i].aliases);
        images->functions[i].name = images->functions[i].symbol = NULL;
        images->functions[i].aliases = NULL;
    }
    for (size_t i = 0; i < images->count; i++) {
        line_table_free(&images->images[i].lines);
        images->images[i].lines = (struct line_table){0};
    }
}

struct place place_of_function(const struct images *images, uint32_t function)
{
    return place_of_address(images, images->functions[function].image,
                            images->functions[function].rva);
}

struct place place_of_site(const struct images *images, uint64_t site)
{
    return place_of_address(images, (uint32_t)(site >> 32), (uint32_t)site);
}

struct place place_of_spot(const struct images *images, uint64_t spot)
{
    const struct image *image = &images->images[spot >> 32];

    if (image->problem && !image->jit)
        return (struct place){.file = "???"};
    return place_of_line(
        image, line_table_find_spot(&image->lines, address_of_rva(image, (uint32_t)spot)));
}

const struct inlined *inlined_at_spot(const struct images *images, uint64_t spot)
{
    const struct image *image = &images->images[spot >> 32];

    if (image->problem)
        return NULL;
    return line_table_inlined(&image->lines, address_of_rva(image, (uint32_t)spot));
}

struct place place_of_inlined(const struct images *images, uint64_t spot,
                              const struct inlined *inlined)
{
    return place_of_line(&images->images[spot >> 32], inlined->call);
}

uint32_t place_file_count(const struct images *images)
{
    const struct image *last = &images->images[images->count - 1];

    return last->first_file + (uint32_t)last->lines.file_count + 1;
}
