#include "grinder/profile/copied_spots.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/image/decoder.h"
#include "grinder/image/original_bytes.h"
#include "support/bounded_file.h"
#include "support/memory.h"
#include "support/sorted.h"
#include "trace/frame_format.h"

/* An image whose copies are looked at: one at a time. */
struct opened {
    const struct image *image;
    struct original_bytes original;
    uint8_t *bytes; /* of the instrumented file */
    uint64_t added; /* rva of the first stub or copy */
};

/* A copy, by the distance from its begin. */
struct resolved {
    const struct manifest_copy *copy;
    uint32_t *original;    /* what the instruction there stands for; 0: it is not known */
    uint32_t *stretch_end; /* where the stretch that begins there ends; 0: none does */
};

/* A place that is known in both, as RVAs. */
struct anchor {
    uint32_t copy, original;
};

static uint64_t added_from(const struct manifest *manifest)
{
    uint64_t first = manifest->copy_count ? manifest->copies[0].rva : UINT64_MAX;

    for (uint32_t i = 0; i < manifest->function_count; i++)
        if (manifest->functions[i].stub_rva && manifest->functions[i].stub_rva < first)
            first = manifest->functions[i].stub_rva;
    return first;
}

static void close_image(struct opened *opened)
{
    original_bytes_free(&opened->original);
    free(opened->bytes);
    *opened = (struct opened){0};
}

static void read_bytes(struct opened *opened)
{
    struct bounded_file file;
    struct failure failure;

    original_bytes_read(&opened->original, opened->image->file, &opened->image->manifest);
    if (!opened->original.bytes || !bounded_file_open(&file, opened->image->file, &failure))
        return;
    opened->bytes = bounded_file_copy(&file, 0, file.size);
    bounded_file_close(&file);
}

static void open_image(struct opened *opened, const struct image *image)
{
    if (opened->image == image)
        return;
    close_image(opened);
    opened->image = image;
    opened->added = added_from(&image->manifest);
    if (image->manifest.copy_count)
        read_bytes(opened);
}

/* Decodes what an image has at rva, up to `behind` at most. */
static bool decode(const uint8_t *bytes, const struct loaded_ranges *ranges, uint32_t rva,
                   uint64_t behind, ZydisDecodedInstruction *instruction)
{
    const struct loaded_range *range = loaded_range_at(ranges, rva);
    ZydisDecoder decoder;
    uint64_t end;

    if (!bytes || !range)
        return false;
    end = range->rva + range->size < behind ? range->rva + range->size : behind;
    decoder_begin(&decoder, ranges);
    return end > rva &&
           ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
               &decoder, NULL, bytes + range->offset + (rva - range->rva), end - rva, instruction));
}

/* Where each stretch of a copy that counts calls begins: the byte behind it, as an RVA. Others are
 * 0. */
static uint32_t *stretches_of(const struct manifest *manifest, const struct manifest_copy *copy)
{
    const struct manifest_copy *next = copy + 1;
    uint32_t *behind = memory_zeroed(copy->size, sizeof(*behind));
    uint32_t last =
        next < manifest->copies + manifest->copy_count ? next->counted : manifest->stretch_count;
    uint64_t at = 0;

    for (uint32_t i = copy->counted; i < last && i < manifest->stretch_count; i++) {
        at += manifest->stretches[i].gap;
        if (at < copy->size && manifest->stretches[i].size)
            behind[at] = copy->rva + (uint32_t)at + manifest->stretches[i].size;
        at += manifest->stretches[i].size;
    }
    return behind;
}

/* Decodes both from one anchor on, up to the next. Of the copy's end its original is not known: 0.
 */
static void pair_up(const struct opened *opened, struct resolved *resolved, struct anchor from,
                    struct anchor to)
{
    uint32_t begin = resolved->copy->rva, copied = from.copy, original = from.original;

    while (copied < to.copy) {
        ZydisDecodedInstruction a, b;

        if (resolved->stretch_end[copied - begin]) {
            copied = resolved->stretch_end[copied - begin];
            continue;
        }
        if (!decode(opened->bytes, &opened->image->ranges, copied, to.copy, &a) ||
            !decode(opened->original.bytes, &opened->original.ranges, original, UINT64_MAX, &b) ||
            a.mnemonic != b.mnemonic)
            return;
        resolved->original[copied - begin] = original;
        copied += a.length;
        original += b.length;
    }
    if (to.original && (copied != to.copy || original != to.original))
        memset(resolved->original + (from.copy - begin), 0,
               (to.copy - from.copy) * sizeof(*resolved->original));
}

/* Where a function begins in its copy: behind its key, which what is no function has not. */
static struct anchor begin_of(const struct manifest *manifest, const struct manifest_copy *copy)
{
    const struct manifest_function *function = &manifest->functions[copy->function];
    uint32_t key = function->state == FUNCTION_HOOKED ? sizeof(struct frame_key) : 0;

    return (struct anchor){copy->rva + (key < copy->size ? key : 0), function->rva};
}

static void resolve_copy(const struct opened *opened, const struct manifest_copy *copy,
                         struct resolved *resolved)
{
    const struct manifest *manifest = &opened->image->manifest;
    struct anchor at = begin_of(manifest, copy);
    uint32_t end = copy->rva + copy->size;
    size_t i = partition_point(j, manifest->site_count, manifest->sites[j].copy <= at.copy);

    free(resolved->original);
    free(resolved->stretch_end);
    resolved->copy = copy;
    resolved->original = memory_zeroed(copy->size, sizeof(*resolved->original));
    resolved->stretch_end = stretches_of(manifest, copy);
    for (; i < manifest->site_count && manifest->sites[i].copy < end; i++) {
        struct anchor next = {manifest->sites[i].copy, manifest->sites[i].original};
        pair_up(opened, resolved, at, next);
        at = next;
    }
    pair_up(opened, resolved, at, (struct anchor){end, 0});
}

/* What an instruction of the image stands for; 0: it is not known. */
static uint32_t original_of(const struct opened *opened, struct resolved *resolved, uint32_t rva)
{
    const struct manifest *manifest = &opened->image->manifest;
    const struct manifest_copy *copy = manifest_copy_at(manifest, rva);
    uint64_t offset;

    if (!copy)
        return rva < opened->added ? rva : 0;
    if (copy->function >= manifest->function_count || !opened->bytes ||
        !loaded_ranges_find(&opened->image->ranges, copy->rva, copy->size, &offset))
        return 0;
    if (resolved->copy != copy)
        resolve_copy(opened, copy, resolved);
    return resolved->original[rva - copy->rva];
}

static void resolve_hit(const struct tree *tree, const struct images *images, struct opened *opened,
                        struct resolved *resolved, struct tree_hit *hit)
{
    const struct tree_module *module = &tree->modules[tree->contexts[hit->slot].module];
    const struct image *image = &images->images[module->image];
    uint64_t rva = hit->instruction - module->base;
    uint32_t original;

    if (!module->image || image->problem || image->is_plain || image->jit || rva >= module->size ||
        rva > UINT32_MAX)
        return;
    if (opened->image != image)
        resolved->copy = NULL;
    open_image(opened, image);
    original = original_of(opened, resolved, (uint32_t)rva);
    hit->instruction = original ? module->base + original : 0;
}

/* For qsort, which passes nothing on. */
static const struct tree_hit *sorted_hits;

static int compare_instructions(const void *left, const void *right)
{
    uint64_t a = sorted_hits[*(const size_t *)left].instruction;
    uint64_t b = sorted_hits[*(const size_t *)right].instruction;

    return a < b ? -1 : a > b;
}

/* By address, so that each image is opened, and each copy decoded, once. */
void copied_spots_resolve(struct tree *tree, const struct images *images)
{
    size_t *order = memory_zeroed(tree->hit_count + 1, sizeof(*order));
    struct opened opened = {0};
    struct resolved resolved = {0};

    for (size_t i = 0; i < tree->hit_count; i++)
        order[i] = i;
    sorted_hits = tree->hits;
    qsort(order, tree->hit_count, sizeof(*order), compare_instructions);
    for (size_t i = 0; i < tree->hit_count; i++)
        resolve_hit(tree, images, &opened, &resolved, &tree->hits[order[i]]);
    close_image(&opened);
    free(resolved.original);
    free(resolved.stretch_end);
    free(order);
}
