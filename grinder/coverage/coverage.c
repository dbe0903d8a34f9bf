#include "grinder/coverage/coverage.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/base/message.h"
#include "grinder/coverage/block_counts.h"
#include "grinder/image/decoder.h"
#include "grinder/image/original_bytes.h"
#include "grinder/profile/symbolize.h"
#include "support/memory.h"
#include "trace/trace_reader.h"

/* --- reading traces --- */

/* The modules of one trace: which image has which first function. */
struct reading {
    struct coverage *coverage;
    enum trace_system system;
    struct known {
        uint32_t first_function, image;
        uint32_t pages; /* that were there */
        bool is_other;  /* the image has other blocks than those of the trace */
    } * known;
    size_t known_count, known_room;
};

bool coverage_is_noted(const struct images *images)
{
    for (size_t i = 0; i < images->count; i++)
        if (images->images[i].manifest.block_count)
            return true;
    return false;
}

bool coverage_has_counts(const struct images *images)
{
    for (size_t i = 0; i < images->count; i++)
        if (images->images[i].manifest.block_count && images->images[i].manifest.ways)
            return true;
    return false;
}

void coverage_begin(struct coverage *coverage)
{
    *coverage = (struct coverage){0};
    images_begin(&coverage->images);
}

void coverage_free(struct coverage *coverage)
{
    for (size_t i = 0; i < coverage->room; i++) {
        free(coverage->covered[i].words);
        free(coverage->covered[i].counts);
    }
    free(coverage->covered);
    free(coverage->spots);
    free(coverage->functions);
    free(coverage->lines);
    images_free(&coverage->images);
}

static void read_module(void *user, const struct trace_module *module)
{
    struct reading *reading = user;
    uint32_t image;

    if (!(module->flags & TRACE_MODULE_INSTRUMENTED))
        return;
    reading->known = memory_grow(reading->known, reading->known_count, &reading->known_room,
                                 sizeof(*reading->known));
    message_mute(reading->coverage->images_are_known);
    image = images_add(&reading->coverage->images, module->path, reading->system, module);
    message_mute(false);
    reading->known[reading->known_count++] =
        (struct known){.first_function = module->first_function, .image = image};
}

static void make_room_for(struct coverage *coverage, uint32_t image)
{
    size_t room = 2 * (size_t)image + 8;
    struct covered_image *covered;

    if (image < coverage->room)
        return;
    covered = memory_zeroed(room, sizeof(*covered));
    for (size_t i = 0; i < coverage->room; i++)
        covered[i] = coverage->covered[i];
    free(coverage->covered);
    coverage->covered = covered;
    coverage->room = room;
}

static uint32_t hash_of_blocks(const struct manifest *manifest)
{
    uint32_t hash = IMAGE_NO_BLOCK_HASH;

    for (uint32_t i = 0; i < manifest->block_count; i++)
        hash = image_block_hash(hash, manifest->blocks[i].rva, manifest->blocks[i].size);
    for (uint32_t i = 0; manifest->ways && i < manifest->block_count; i++)
        hash = image_block_hash(hash, manifest->ways[i].from & ~MANIFEST_COUNTED,
                                manifest->ways[i].to);
    return hash;
}

/* Bytes of an image's cover for each word that is kept of it. */
static uint32_t unit_of(const struct manifest *manifest)
{
    return manifest->ways ? sizeof(uint64_t) : 1;
}

static uint32_t cover_size(const struct manifest *manifest)
{
    return manifest->ways ? block_counts_words(manifest) * unit_of(manifest)
                          : manifest->block_count;
}

/* What is known of an image; null if it has no blocks. */
static struct covered_image *covered_image(struct coverage *coverage, uint32_t number)
{
    const struct manifest *manifest = &coverage->images.images[number].manifest;
    struct covered_image *image;

    make_room_for(coverage, number);
    image = &coverage->covered[number];
    if (!image->words && manifest->block_count) {
        image->words = memory_zeroed(manifest->block_count, sizeof(*image->words));
        image->block_hash = hash_of_blocks(manifest);
        image->cover_size = cover_size(manifest);
        coverage->is_counted = coverage->is_counted || manifest->ways;
    }
    return image->words ? image : NULL;
}

static struct known *known_by(struct reading *reading, uint32_t function)
{
    for (size_t i = reading->known_count; i-- > 0;)
        if (reading->known[i].first_function == function)
            return &reading->known[i];
    return NULL;
}

/* Bytes of a page, from a byte of the cover on; unit: of each word that is kept of it. */
static void add_page(const struct covered_image *image, uint32_t unit, uint64_t first,
                     const uint8_t *bytes)
{
    for (uint32_t i = 0; i < TRACE_COVER_BYTES && first + i < image->cover_size; i += unit) {
        uint64_t value = bytes[i] != 0;

        if (unit == sizeof(value))
            memcpy(&value, bytes + i, sizeof(value));
        image->words[(first + i) / unit] += value;
    }
}

static void read_cover(void *user, const struct trace_block *head, const uint8_t *bytes)
{
    struct reading *reading = user;
    struct known *known = known_by(reading, head->function);
    uint32_t number = known ? known->image : 0;
    const struct covered_image *image;

    if (known)
        known->pages++;
    image = number ? covered_image(reading->coverage, number) : NULL;
    if (!image)
        return;
    known->is_other = known->is_other || head->block_hash != image->block_hash;
    if (!known->is_other)
        add_page(image, unit_of(&reading->coverage->images.images[number].manifest),
                 (uint64_t)head->page * TRACE_COVER_BYTES, bytes);
}

/* A block more had no room, before the blocks of cover came behind the others. */
static bool is_full(const struct trace_header *header)
{
    return header->used + TRACE_BLOCK_SIZE > header->capacity;
}

/* Says what the trace lacks: a process that ran out of room in it notes blocks nowhere. A child
   made by fork has no pages of images that were gone before it. */
static void check_pages(const struct reading *reading, const struct trace_file *file)
{
    for (size_t i = 0; i < reading->known_count; i++) {
        const struct image *image = &reading->coverage->images.images[reading->known[i].image];
        uint32_t pages = image_cover_pages(cover_size(&image->manifest));

        if (reading->known[i].is_other)
            message(
                "%s: %s: expected the blocks that were noted, found others: it was instrumented "
                "otherwise since; what ran of it is left out",
                file->path, image->path);
        if (reading->known[i].is_other || reading->known[i].pages >= pages ||
            (file->header.fork_of_pid && !reading->known[i].pages && !is_full(&file->header)))
            continue;
        message("%s: %s: expected %" PRIu32 " pages of blocks, found %" PRIu32 ": %s", file->path,
                image->path, pages, reading->known[i].pages,
                file->header.end == TRACE_END_UNKNOWN
                    ? "they come when the process has ended"
                    : "the trace was full; --max-trace-size gives it more room");
    }
}

bool coverage_add(struct coverage *coverage, const char *path, struct failure *failure)
{
    struct reading reading = {.coverage = coverage};
    const struct trace_visitor modules = {.user = &reading, .module = read_module};
    const struct trace_visitor covers = {.user = &reading, .cover = read_cover};
    struct trace_file file;
    bool is_read;

    if (!trace_file_open(&file, path, failure))
        return false;
    reading.system = file.header.system;
    is_read = trace_file_read(&file, &modules, failure) && trace_file_read(&file, &covers, failure);
    coverage->processes += is_read;
    if (is_read)
        check_pages(&reading, &file);
    trace_file_close(&file);
    free(reading.known);
    return is_read;
}

/* --- functions and lines --- */

static void add_spot(struct coverage *coverage, uint32_t image, uint32_t rva, uint64_t hits)
{
    coverage->spots = memory_grow(coverage->spots, coverage->spot_count, &coverage->spot_room,
                                  sizeof(*coverage->spots));
    coverage->spots[coverage->spot_count++] =
        (struct covered_spot){(uint64_t)image << 32 | rva, hits};
}

/* Each of the block's instructions; where the original cannot be put together, its first one.
   Returns how many there are. */
static uint32_t add_instructions(struct coverage *coverage, const ZydisDecoder *decoder,
                                 uint32_t image, const struct original_bytes *original,
                                 const struct manifest_block *block, uint64_t hits)
{
    const uint8_t *bytes =
        original->bytes ? original_bytes_at(original, block->rva, block->size) : NULL;
    ZydisDecodedInstruction instruction;
    uint32_t at = 0, count = 0;

    do {
        add_spot(coverage, image, block->rva + at, hits);
        count++;
        if (!bytes || !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, bytes + at,
                                                                  block->size - at, &instruction)))
            return count;
        at += instruction.length;
    } while (at < block->size);
    return count;
}

/* The place of the manifest's function that has a block, from `from` on, or function_count. */
static uint32_t function_with(const struct manifest *manifest, uint32_t from, uint32_t rva)
{
    while (from + 1 < manifest->function_count && manifest->functions[from + 1].rva <= rva)
        from++;
    return from;
}

static void count_block(struct coverage *coverage, uint32_t function, uint64_t hits,
                        uint32_t instructions)
{
    struct covered_function *last =
        coverage->function_count ? &coverage->functions[coverage->function_count - 1] : NULL;

    if (!last || last->function != function) {
        coverage->functions = memory_grow(coverage->functions, coverage->function_count,
                                          &coverage->function_room, sizeof(*last));
        last = &coverage->functions[coverage->function_count++];
        *last = (struct covered_function){.function = function, .calls = hits};
    }
    last->blocks++;
    last->ran += hits != 0;
    last->instructions += hits * instructions;
    last->spots += instructions;
    coverage->blocks++;
    coverage->blocks_ran += hits != 0;
    coverage->instructions += hits * instructions;
}

/* Hooked functions of the image, imports apart, that have no copy. */
static uint64_t count_not_copied(const struct manifest *manifest)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < manifest->function_count; i++)
        count += manifest->functions[i].state == FUNCTION_HOOKED &&
                 !manifest_import_name(manifest, i) && !manifest_copy_of(manifest, i);
    return count;
}

static uint64_t *find_counts(const struct coverage *coverage, uint32_t number)
{
    const struct manifest *manifest = &coverage->images.images[number].manifest;
    uint64_t *counts = memory_zeroed(manifest->block_count, sizeof(*counts));

    if (manifest->ways) {
        block_counts_find(manifest, coverage->covered[number].words, counts);
        return counts;
    }
    for (uint32_t i = 0; i < manifest->block_count; i++)
        counts[i] = coverage->covered[number].words[i] != 0;
    return counts;
}

static void resolve_image(struct coverage *coverage, uint32_t number)
{
    const struct image *image = &coverage->images.images[number];
    const struct manifest *manifest = &image->manifest;
    struct original_bytes original;
    ZydisDecoder decoder;
    uint32_t function = 0;

    decoder_begin(&decoder, &image->ranges);
    ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
    coverage->not_copied += count_not_copied(manifest);
    coverage->covered[number].counts = find_counts(coverage, number);
    original_bytes_read(&original, image->file, manifest);
    for (uint32_t i = 0; i < manifest->block_count; i++) {
        const struct manifest_block *block = &manifest->blocks[i];
        uint64_t hits = coverage->covered[number].counts[i];
        uint32_t instructions;

        if (!block->size || !manifest->function_count)
            continue;
        function = function_with(manifest, function, block->rva);
        instructions = add_instructions(coverage, &decoder, number, &original, block, hits);
        count_block(coverage, images_function(&coverage->images, number, function), hits,
                    instructions);
    }
    original_bytes_free(&original);
}

static int by_file_and_line(const void *left, const void *right)
{
    const struct covered_line *a = left, *b = right;
    int files = strcmp(a->file, b->file);

    if (files)
        return files;
    return (a->line > b->line) - (a->line < b->line);
}

static void add_hits(struct covered_line *line, uint64_t hits)
{
    if (hits > line->hits)
        line->hits = hits;
}

static void join_lines(struct coverage *coverage)
{
    struct covered_line *lines = coverage->lines;
    size_t kept = 0;

    if (coverage->line_count)
        qsort(lines, coverage->line_count, sizeof(*lines), by_file_and_line);
    for (size_t i = 0; i < coverage->line_count; i++) {
        if (kept && !by_file_and_line(&lines[kept - 1], &lines[i]))
            add_hits(&lines[kept - 1], lines[i].hits);
        else
            lines[kept++] = lines[i];
    }
    coverage->line_count = kept;
}

/* Instructions side by side are mostly of one line. */
static void add_lines(struct coverage *coverage)
{
    struct covered_line *last = NULL;

    for (size_t i = 0; i < coverage->spot_count; i++) {
        const struct covered_spot *spot = &coverage->spots[i];
        struct place place = place_of_site(&coverage->images, spot->place);

        if (!place.line)
            continue;
        if (last && last->line == place.line && last->file == place.file) {
            add_hits(last, spot->hits);
            continue;
        }
        coverage->lines =
            memory_grow(coverage->lines, coverage->line_count, &coverage->line_room, sizeof(*last));
        last = &coverage->lines[coverage->line_count++];
        *last = (struct covered_line){place.file, place.line, spot->hits};
    }
    join_lines(coverage);
}

void coverage_count(struct coverage *coverage)
{
    for (uint32_t i = 0; i < coverage->room && i < coverage->images.count; i++)
        if (coverage->covered[i].words)
            resolve_image(coverage, i);
}

void coverage_resolve(struct coverage *coverage, const char *const *debug_dirs)
{
    uint64_t *places;

    coverage_count(coverage);
    places = memory_zeroed(coverage->spot_count, sizeof(*places));
    for (size_t i = 0; i < coverage->spot_count; i++)
        places[i] = coverage->spots[i].place;
    symbolize_places(&coverage->images, places, coverage->spot_count, debug_dirs);
    free(places);
    add_lines(coverage);
}
