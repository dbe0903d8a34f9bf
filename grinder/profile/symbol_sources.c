#include "grinder/profile/symbol_sources.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "grinder/base/message.h"
#include "grinder/image/image_file.h"
#include "grinder/symbols/pdb_find.h"
#include "support/memory.h"

struct sources {
    struct image *image;
    const struct symbol_search *search;
    struct symbol_table *symbols;
    char *original; /* path of the file that was instrumented; null if not known */
    int has_lines;  /* some source had lines */
};

static void read_file(struct sources *sources, const struct image_file *file, const char *path)
{
    struct failure failure;

    image_file_symbols(file, image_name(sources->image), sources->symbols);
    if (sources->has_lines || !image_file_has_section(file, ".debug_line"))
        return;
    sources->has_lines = 1;
    if (!line_table_read(&sources->image->lines, path, &failure))
        message("%s: %s", path, failure.text);
}

static void read_path(struct sources *sources, const char *path)
{
    struct image_file file;
    struct failure failure;

    if (!image_file_open(&file, path, &failure))
        return;
    read_file(sources, &file, path);
    image_file_close(&file);
}

static void read_debug_file(struct sources *sources, const struct image_file *file)
{
    const char *const *dirs = sources->search->debug_dirs;
    char *path = image_file_debug_path(file, dirs, sources->image->file);

    if (!path && sources->original)
        path = image_file_debug_path(file, dirs, sources->original);
    if (!path && !image_file_has_section(file, ".debug_info"))
        path = image_file_fetch_debug(file, sources->image->file);
    if (path)
        read_path(sources, path);
    free(path);
}

static void read_pdb(struct sources *sources, const struct image_file *file)
{
    const struct pdb_search search = {
        .image_path = sources->image->file,
        .original_path = sources->original,
        .debug_dirs = sources->search->debug_dirs,
        .path_maps = sources->search->path_maps,
    };
    struct pdb_file pdb;

    if (file->format != IMAGE_PE || pdb_find(&pdb, &search, &file->pe) < 0)
        return;
    pdb_symbols_add(sources->symbols, &pdb, file->pe.image_base);
    pdb_lines_read(&sources->image->lines, &pdb, file->pe.image_base);
    sources->has_lines = 1;
    pdb_close(&pdb);
}

/* XXH3 64 of the file's content; 0 if it is not of that size or cannot be read. */
static uint64_t hash_file(const char *path, uint64_t size)
{
    XXH3_state_t *state = NULL;
    struct bounded_file file;
    struct failure failure;
    char *bytes = NULL;
    uint64_t hash = 0, part;
    uint64_t part_size = 1 << 20;

    if (!bounded_file_open(&file, path, &failure))
        return 0;
    if (file.size != size)
        goto err;
    state = XXH3_createState();
    bytes = memory_zeroed(part_size, 1);
    if (!state || XXH3_64bits_reset(state) == XXH_ERROR)
        goto err;
    for (uint64_t at = 0; at < size; at += part) {
        part = size - at < part_size ? size - at : part_size;
        if (bounded_file_read(&file, bytes, part, at) < 0 ||
            XXH3_64bits_update(state, bytes, part) == XXH_ERROR)
            goto err;
    }
    hash = XXH3_64bits_digest(state);
err:
    XXH3_freeState(state);
    free(bytes);
    bounded_file_close(&file);
    return hash;
}

static void read_original(struct sources *sources)
{
    const struct image_manifest *manifest = sources->image->manifest.head;

    if (sources->original &&
        hash_file(sources->original, manifest->original_size) == manifest->original_hash)
        read_path(sources, sources->original);
}

void symbol_sources_read(struct image *image, const struct symbol_search *search,
                         struct symbol_table *symbols)
{
    struct sources sources = {.image = image, .search = search, .symbols = symbols};
    const char *original = manifest_original_path(&image->manifest);
    struct image_file file;
    struct failure failure;

    if (!image_file_open(&file, image->file, &failure))
        return;
    if (original)
        sources.original =
            recorded_path_find(original, recorded_path_system(original), search->path_maps);
    read_file(&sources, &file, image->file);
    if (!sources.has_lines)
        read_debug_file(&sources, &file);
    if (!sources.has_lines)
        read_pdb(&sources, &file);
    if (!sources.has_lines)
        read_original(&sources);
    image_file_close(&file);
    free(sources.original);
}
