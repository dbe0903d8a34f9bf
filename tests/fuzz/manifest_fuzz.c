/* The grinder's reading of an instrumented image of either system: its manifest, its names, what it
   says of files with more of them, and its original. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/image/code_hash.h"
#include "grinder/image/image_file.h"
#include "grinder/profile/copied_spots.h"
#include "grinder/symbols/demangle.h"
#include "image/manifest.h"
#include "support/bounded_file.h"
#include "tests/fuzz/harness.h"

static size_t length_of(const char *text)
{
    return text ? strlen(text) : 0;
}

/* What hashes are made of and code is shown from lies within the original. */
static void read_original(const char *path, const struct manifest *manifest)
{
    free(code_hashes_read(path, manifest));
}

#define BASE         0x555500000000
#define MOST_COPIES  8
#define HITS_OF_COPY 64

/* Samples in copies stand for instructions of the original. */
static void read_copies(const char *path, const struct manifest *manifest)
{
    struct image all[] = {{0}, {.file = (char *)(uintptr_t)path, .manifest = *manifest}};
    const struct images images = {.images = all, .count = 2};
    struct context contexts[] = {{0}, {.module = 1}};
    struct tree_module modules[] = {{0}, {.base = BASE, .size = UINT32_MAX, .image = 1}};
    struct tree tree = {.contexts = contexts, .modules = modules};
    struct bounded_file file;
    struct failure failure;

    if (!bounded_file_open(&file, path, &failure))
        return;
    if (loaded_ranges_read(&all[1].ranges, &file)) {
        for (uint32_t i = 0; i < manifest->copy_count && i < MOST_COPIES; i++)
            for (uint32_t at = 0; at < HITS_OF_COPY; at++)
                tree_add_hit(&tree, &(struct tree_hit){.instruction =
                                                           BASE + manifest->copies[i].rva + 3 * at,
                                                       .slot = 1});
        copied_spots_resolve(&tree, &images);
        loaded_ranges_free(&all[1].ranges);
        free(tree.hits);
    }
    bounded_file_close(&file);
}

/* Every text of the manifest ends. */
static void read_manifest(const struct image_file *image, const char *path)
{
    struct manifest manifest;
    struct failure failure = {""};
    size_t sum = 0;

    if (!image_file_manifest(image, &manifest, &failure)) {
        check_refusal(failure.text);
        return;
    }
    sum += length_of(manifest_original_path(&manifest));
    for (uint32_t i = 0; i < manifest.function_count && i < 1000; i++)
        sum += length_of(manifest_import_name(&manifest, i));
    if (sum > (size_t)manifest.head->size * 1001)
        abort();
    read_original(path, &manifest);
    read_copies(path, &manifest);
    manifest_free(&manifest);
}

static void read_symbols(const struct image_file *image)
{
    struct symbol_table symbols = {0};

    image_file_symbols(image, "module", &symbols);
    symbol_table_sort(&symbols);
    for (size_t i = 0; i < symbols.count; i++) {
        const char *name = symbol_table_find(&symbols, symbols.symbols[i].address);
        if (!name)
            abort();
        free(demangle(name));
    }
    symbol_table_free(&symbols);
}

static void read_debug_links(const struct image_file *image)
{
    static const char *const no_dirs[] = {NULL};
    struct pe_codeview codeview;
    char *path = NULL;

    free(image_file_debug_path(image, no_dirs, "/nowhere/image"));
    if (image->format == IMAGE_PE && pe_codeview_read(&image->pe, &codeview, &path) == 0 && !path)
        abort();
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memory_file(data, size);
    struct image_file image;
    struct failure failure = {""};
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    if (!image_file_open(&image, path, &failure)) {
        check_refusal(failure.text);
    } else {
        read_manifest(&image, path);
        read_symbols(&image);
        read_debug_links(&image);
        image_file_close(&image);
    }
    close(file);
    return 0;
}
