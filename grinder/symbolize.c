#include "grinder/symbolize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/debug_file.h"
#include "grinder/demangle.h"
#include "grinder/memory.h"
#include "grinder/message.h"
#include "grinder/symbols.h"

/* The addresses of one image whose lines are wanted. */
struct wanted {
    uint64_t *addresses;
    size_t count, room;
};

static uint64_t address_of_rva(const struct image *image, uint32_t rva)
{
    return image->manifest.bytes->preferred_base + rva;
}

static void want(struct images *images, struct wanted *wanted, uint32_t image, uint32_t rva)
{
    struct wanted *list = &wanted[image];

    if (images->images[image].problem)
        return;
    list->addresses =
        memory_grow(list->addresses, list->count, &list->room, sizeof(*list->addresses));
    list->addresses[list->count++] = address_of_rva(&images->images[image], rva);
}

static struct wanted *gather(struct images *images, const struct profile *profile)
{
    struct wanted *wanted = memory_zeroed(images->count, sizeof(*wanted));

    for (size_t i = 1; i < images_function_count(images); i++)
        want(images, wanted, images->functions[i].image, images->functions[i].rva);
    for (size_t p = 0; p < profile->part_count; p++) {
        const struct pair_index *edges = &profile->parts[p].edges.keys;
        for (size_t i = 0; i < edges->count; i++)
            want(images, wanted, (uint32_t)(edges->pairs[i].b >> 32), (uint32_t)edges->pairs[i].b);
    }
    return wanted;
}

static char *name_without_symbol(const struct image *image, const struct function *function)
{
    char name[512];

    if (image->problem || function->index >= image->manifest.function_count)
        snprintf(name, sizeof(name), "%.400s!#%u", image_name(image), function->index);
    else
        snprintf(name, sizeof(name), "%.400s!0x%x", image_name(image), function->rva);
    return demangle(name);
}

/* An import is called what the caller calls it by; its own name is of another module. */
static char *name_of_import(const char *symbol)
{
    char *name = demangle(symbol), *whole;
    size_t size = strlen(name) + sizeof("@plt");

    whole = memory_zeroed(1, size);
    snprintf(whole, size, "%s@plt", name);
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
        if (!image->problem)
            import = manifest_import_name(&image->manifest, function->index);
        if (import) {
            function->name = name_of_import(import);
            continue;
        }
        if (!image->problem && function->rva)
            symbol = symbol_table_find(symbols, address_of_rva(image, function->rva));
        function->name = symbol ? demangle(symbol) : name_without_symbol(image, function);
    }
}

/* path is of the file with the DWARF. */
static void read_lines(struct image *image, struct wanted *wanted, const char *path)
{
    const char *why = NULL;

    line_table_begin(&image->lines, wanted->addresses, wanted->count);
    wanted->addresses = NULL;
    if (line_table_read(&image->lines, path, &why) < 0)
        message("%s: %s; some lines are not known", path, why);
}

static void symbolize_image(struct images *images, uint32_t number, struct wanted *wanted,
                            const char *const *debug_dirs)
{
    struct image *image = &images->images[number];
    struct symbol_table symbols = {0};
    struct elf_file elf = {.fd = -1}, debug = {.fd = -1};
    char *debug_path = NULL;
    const char *why = NULL;

    if (!image->problem && elf_open(&elf, image->path, &why) == 0) {
        symbol_table_add(&symbols, &elf);
        if (elf_section_named(&elf, ".debug_line"))
            read_lines(image, wanted, image->path);
        else
            debug_path = debug_file_find(debug_dirs, image->path, &elf);
    }
    if (debug_path && elf_open(&debug, debug_path, &why) == 0) {
        symbol_table_add(&symbols, &debug);
        read_lines(image, wanted, debug_path);
    }
    symbol_table_sort(&symbols);
    name_functions(images, number, &symbols);
    symbol_table_free(&symbols);
    elf_close(&elf);
    elf_close(&debug);
    free(debug_path);
}

void symbolize(struct images *images, const struct profile *profile, const char *const *debug_dirs)
{
    struct wanted *wanted = gather(images, profile);
    uint32_t files = 1;

    images->functions[0].name = memory_copy_string("(root)");
    for (uint32_t i = 0; i < images->count; i++) {
        symbolize_image(images, i, &wanted[i], debug_dirs);
        images->images[i].first_file = files;
        files += (uint32_t)images->images[i].lines.file_count;
        free(wanted[i].addresses);
    }
    free(wanted);
}

static struct place place_of_address(const struct images *images, uint32_t number, uint32_t rva)
{
    const struct image *image = &images->images[number];
    struct place place = {.file = "???"};
    struct line line;

    if (image->problem)
        return place;
    line = line_table_find(&image->lines, address_of_rva(image, rva));
    if (line.file) {
        place.file = image->lines.files[line.file];
        place.file_number = image->first_file + line.file;
        place.line = line.line;
    }
    return place;
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

uint32_t place_file_count(const struct images *images)
{
    const struct image *last = &images->images[images->count - 1];

    return last->first_file + (uint32_t)last->lines.file_count + 1;
}
