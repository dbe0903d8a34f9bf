#include "service/attach/linux/hooked_image.h"

#include <stdlib.h>
#include <string.h>

#include "image/manifest.h"

#define JUMP_SIZE  5
#define JUMP       0xe9
#define SHORT_JUMP 0xeb
#define PAGE       4096u
#define PIECE      65536u
#define PIECES     16u

/* Of the file, what was read last. */
struct piece {
    uint64_t offset;
    uint64_t size; /* 0: nothing yet */
    uint8_t bytes[PIECE];
};

struct source {
    struct hooked_image *image;
    struct bounded_file file;
    struct piece *pieces; /* PIECES: functions and their stubs ascend, each in places of its own */
    struct loaded_ranges ranges;
    struct manifest manifest;
    struct manifest_place place;
    uint64_t away; /* RVA */
};

static bool fill(struct piece *piece, const struct bounded_file *file, uint64_t offset)
{
    uint64_t size = file->size - offset < PIECE ? file->size - offset : PIECE;

    if (piece->size && piece->offset == offset)
        return true;
    piece->offset = offset;
    piece->size = 0;
    if (bounded_file_read(file, piece->bytes, size, offset) < 0)
        return false;
    piece->size = size;
    return true;
}

/* By pieces: an image may have a hundred thousand functions, and each is asked for some bytes. */
static bool read_at(const struct source *source, uint64_t rva, void *bytes, uint64_t size)
{
    struct piece *piece;
    uint64_t offset, within;

    if (!loaded_ranges_find(&source->ranges, rva, size, &offset))
        return false;
    within = offset % PIECE;
    if (within + size > PIECE)
        return bounded_file_read(&source->file, bytes, size, offset) == 0;
    piece = &source->pieces[offset / PIECE % PIECES];
    if (!fill(piece, &source->file, offset - within) || within + size > piece->size)
        return false;
    memcpy(bytes, piece->bytes + within, size);
    return true;
}

/* The RVA that a jump at rva, of `size` bytes, goes to. */
static uint64_t target(uint64_t rva, const uint8_t *jump, unsigned size)
{
    int32_t distance = (int8_t)jump[1];

    if (size == JUMP_SIZE)
        memcpy(&distance, jump + 1, sizeof(distance));
    return rva + size + (uint64_t)(int64_t)distance;
}

/* The instructions are in the stub as they were, if what follows them there leads behind them here.
 */
static uint64_t find_moved(const struct source *source, const struct manifest_function *function)
{
    uint64_t body = (uint64_t)function->stub_rva + STUB_FRAME_SIZE;
    uint64_t from = (uint64_t)function->rva + function->patch_offset;
    uint8_t jump[JUMP_SIZE];

    if (!read_at(source, body + function->patch_size, jump, JUMP_SIZE) || jump[0] != JUMP ||
        target(body + function->patch_size, jump, JUMP_SIZE) != from + function->patch_size)
        return 0;
    return source->image->base + body;
}

/* What was overwritten there beside the functions' first bytes: a jump in a hole. */
static bool read_hole(const struct source *source, uint64_t rva, struct hook *hook)
{
    uint64_t offset;

    *hook = (struct hook){.at = source->image->base + rva, .size = JUMP_SIZE};
    if (!read_at(source, rva, hook->after, JUMP_SIZE) || hook->after[0] != JUMP ||
        !loaded_ranges_find(&source->ranges, rva, JUMP_SIZE, &offset))
        return false;
    hook->hole_target = source->image->base + target(rva, hook->after, JUMP_SIZE);
    memcpy(hook->before, hook->after, JUMP_SIZE);
    for (uint32_t i = 0; i < source->manifest.change_count; i++) {
        const struct manifest_change *change = &source->manifest.changes[i];

        for (unsigned at = 0; at < change->size; at++)
            if (change->file_offset + at - offset < JUMP_SIZE)
                hook->before[change->file_offset + at - offset] = change->original[at];
    }
    return true;
}

/* False: it cannot be hooked. */
static bool read_hook(const struct source *source, const struct manifest_function *function,
                      struct hook *hook)
{
    uint64_t rva = (uint64_t)function->rva + function->patch_offset;

    *hook = (struct hook){.at = source->image->base + rva,
                          .size = function->patch_size,
                          .behind = (uint8_t)function->patch_offset};
    if (function->state != FUNCTION_HOOKED || !function->patch_size ||
        function->patch_size > HOOK_SIZE ||
        !read_at(source, rva, hook->after, function->patch_size))
        return false;
    memcpy(hook->before, function->original, function->patch_size);
    hook->moved = find_moved(source, function);
    return hook->after[0] == JUMP || hook->after[0] == SHORT_JUMP;
}

static int compare(const void *a, const void *b)
{
    const struct hook *one = a, *other = b;

    return one->at < other->at ? -1 : one->at > other->at;
}

static void read_hooks(const struct source *source)
{
    struct hooked_image *image = source->image;

    for (uint32_t i = 0; i < source->manifest.function_count; i++) {
        const struct manifest_function *function = &source->manifest.functions[i];
        struct hook hook, hole;
        bool has_hole = false;

        if (!read_hook(source, function, &hook))
            continue;
        if (hook.after[0] == SHORT_JUMP) {
            has_hole = read_hole(source, target(hook.at - image->base, hook.after, 2), &hole);
            if (!has_hole)
                continue;
            image->hooks[image->hook_count++] = hole;
        }
        hook.place = i;
        image->hooks[image->hook_count++] = hook;
        image->functions++;
    }
    qsort(image->hooks, image->hook_count, sizeof(*image->hooks), compare);
    for (size_t i = 0; i < image->hook_count; i++)
        if (!image->hooks[i].hole_target)
            image->hook_of[image->hooks[i].place] = (uint32_t)i + 1;
    image->low = image->hook_count ? image->hooks[0].at : 0;
    image->high = image->low;
    for (size_t i = 0; i < image->hook_count; i++)
        if (image->hooks[i].at + image->hooks[i].size > image->high)
            image->high = image->hooks[i].at + image->hooks[i].size;
}

/* The page of the hook word, which no bytes in the file are of, follows the data. */
static bool read_added(const struct source *source)
{
    struct hooked_image *image = source->image;
    uint64_t end = source->place.header.hook_rva - IMAGE_HOOK_IN_PAGE + IMAGE_HOOK_PAGE;

    for (size_t i = 0; i < source->ranges.count; i++) {
        const struct loaded_range *range = &source->ranges.items[i];
        struct added_range *added = &image->added[image->added_count];
        uint64_t next = range->is_writable ? end : range->rva + range->size;

        if (range->rva < source->away)
            continue;
        if (image->added_count == HOOK_RANGES || next < range->rva + range->size)
            return false;
        *added = (struct added_range){
            .address = image->base + range->rva,
            .size = (next - range->rva + PAGE - 1) / PAGE * PAGE,
            .offset = range->offset,
            .file_size = range->size,
            .is_writable = range->is_writable,
            .is_executable = range->is_executable,
        };
        image->added_count++;
    }
    return image->added_count == HOOK_RANGES && (image->base + source->away) % PAGE == 0;
}

static bool read_all(struct source *source, const char *path, struct failure *failure)
{
    struct hooked_image *image = source->image;

    if (!manifest_find(&source->place, &source->file, &source->ranges) ||
        manifest_read(&source->manifest, &source->file, source->place.offset, source->place.room) !=
            MANIFEST_WHOLE)
        return fail(failure, path, "expected a manifest of this version, found none");
    image->hook_word = image->base + source->place.header.hook_rva;
    image->header = image->base + source->place.header.header_rva;
    image->hooks = calloc(2ul * source->manifest.function_count + 1, sizeof(*image->hooks));
    image->function_count = source->manifest.function_count;
    image->hook_of = calloc(image->function_count + 1ul, sizeof(*image->hook_of));
    source->pieces = calloc(PIECES, sizeof(*source->pieces));
    if (!image->hooks || !image->hook_of || !source->pieces)
        return fail(failure, path, "out of memory");
    read_hooks(source);
    return read_added(source) ||
           fail(failure, path, "expected what was added to be away, found it elsewhere");
}

bool hooked_image_read(struct hooked_image *image, const char *path, uint64_t base, uint64_t away,
                       struct failure *failure)
{
    struct source source = {.image = image, .away = away - base};
    struct failure why;
    bool is_read = false;

    *image = (struct hooked_image){.base = base, .path = strdup(path)};
    if (!image->path || !bounded_file_open(&source.file, path, &why)) {
        fail(failure, path, "%s", image->path ? why.text : "out of memory");
        hooked_image_free(image);
        return false;
    }
    if (loaded_ranges_read(&source.ranges, &source.file)) {
        is_read = read_all(&source, path, failure);
        loaded_ranges_free(&source.ranges);
        manifest_free(&source.manifest);
        free(source.pieces);
    } else {
        fail(failure, path, "expected an ELF file, found another");
    }
    bounded_file_close(&source.file);
    if (!is_read)
        hooked_image_free(image);
    return is_read;
}

void hooked_image_free(struct hooked_image *image)
{
    free(image->path);
    free(image->hooks);
    free(image->hook_of);
    *image = (struct hooked_image){0};
}

void hooked_image_close(struct hooked_image *image)
{
    image->hook_count = 0;
    image->function_count = 0;
    image->functions = 0;
    image->low = image->high = 0;
    image->unwinder_low = image->unwinder_high = 0;
}

struct hook *hooked_image_hook_of(const struct hooked_image *image, uint32_t place)
{
    return place < image->function_count && image->hook_of[place]
               ? &image->hooks[image->hook_of[place] - 1]
               : NULL;
}

/* The last hook in front of the address, or at it; null: there is none. */
static struct hook *last_until(const struct hooked_image *image, uint64_t address)
{
    size_t low = 0, high = image->hook_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (image->hooks[middle].at <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &image->hooks[low - 1] : NULL;
}

struct hook *hooked_image_hook_at(const struct hooked_image *image, uint64_t function)
{
    struct hook *hook = last_until(image, function + UINT8_MAX);

    while (hook && hook->at >= function) {
        if (!hook->hole_target && hook->at - hook->behind == function)
            return hook;
        hook = hook > image->hooks ? hook - 1 : NULL;
    }
    return NULL;
}

struct hook *hooked_image_at(const struct hooked_image *image, uint64_t address)
{
    struct hook *hook = last_until(image, address);

    return hook && hook->at == address ? hook : NULL;
}

uint64_t hook_hole(const struct hook *hook)
{
    return hook->after[0] == SHORT_JUMP ? target(hook->at, hook->after, 2) : 0;
}

struct hook *hooked_image_amid(const struct hooked_image *image, uint64_t address)
{
    struct hook *hook =
        address > image->low && address < image->high ? last_until(image, address) : NULL;

    return hook && hook->at != address && address < hook->at + hook->size ? hook : NULL;
}
