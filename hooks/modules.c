#include "hooks/modules.h"

#include "hooks/generated.h"
#include "hooks/loaded.h"
#include "hooks/memory.h"
#include "hooks/session.h"
#include "hooks/thread.h"
#include "thunkstash/pages.h"

#define MOST_MODULES 4096
#define KEPT_AT_ONCE 65536

/* What was recorded, kept apart from the trace: a fork's child writes it again. */
static struct trace_module **known;
static const struct image_header **images; /* of each, its header; or null */
static uint32_t known_count;
static uint32_t next_function = 1;
static struct trace_block *block; /* where records are written */
static uint32_t block_session;

static uint32_t record_size(const struct trace_module *record)
{
    return (uint32_t)sizeof(*record) + record->path_size;
}

/* Room for this many units, in the current block or a new one; null if the trace is full. */
static struct trace_module *room_for(uint32_t units)
{
    if (block_session != session.number)
        block = NULL;
    if (!block || block->used + units > TRACE_BLOCK_UNITS) {
        block = session_block(0);
        block_session = session.number;
        if (!block)
            return NULL;
        block_commit(block, TRACE_BLOCK_MODULES);
    }
    return (struct trace_module *)((char *)block + block->used * TRACE_UNIT);
}

static void write_record(const struct trace_module *module)
{
    uint32_t units = (record_size(module) + TRACE_UNIT - 1) / TRACE_UNIT;
    struct trace_module *record = session.trace ? room_for(units) : NULL;

    if (!record)
        return;
    memcpy(record, module, record_size(module));
    __atomic_store_n(&record->size_units, units, __ATOMIC_RELEASE);
    __atomic_store_n(&block->used, block->used + units, __ATOMIC_RELEASE);
}

void modules_rewrite(void)
{
    for (uint32_t i = 0; i < known_count; i++)
        write_record(known[i]);
}

/* Room that lives as long as the process; null if there is none. */
static void *keep(uint64_t size)
{
    static char *room, *end;

    size = (size + 15) & ~15ull;
    if (!room || size > (uint64_t)(end - room)) {
        room = pages_take(KEPT_AT_ONCE);
        if (!room)
            return NULL;
        end = room + KEPT_AT_ONCE;
    }
    room += size;
    return room - size;
}

static void add_module(const struct trace_module *record, const char *path,
                       const struct image_header *image)
{
    uint64_t length = text_length(path);
    struct trace_module *module;

    if (length >= LOADED_PATH)
        length = LOADED_PATH - 1;
    if (!known)
        known = pages_take(MOST_MODULES * sizeof(*known));
    if (!images)
        images = pages_take(MOST_MODULES * sizeof(*images));
    module =
        known && images && known_count < MOST_MODULES ? keep(sizeof(*module) + length + 1) : NULL;
    if (!module)
        return;
    *module = *record;
    module->seen_ticks = ticks_now();
    module->path_size = (uint32_t)length + 1;
    text_copy(module->path, length + 1, path);
    generated_note_module(path, record->base, record->size);
    known[known_count] = module;
    images[known_count] = image;
    __atomic_store_n(&known_count, known_count + 1, __ATOMIC_RELEASE);
    write_record(module);
}

static bool is_known(uint64_t base, const char *path)
{
    for (uint32_t i = known_count; i-- > 0;)
        if (known[i]->base == base)
            return text_equal(known[i]->path, path);
    return false;
}

bool modules_hold(uint64_t address)
{
    uint32_t count = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < count; i++)
        if (address - known[i]->base < known[i]->size)
            return true;
    return false;
}

/* The newest one that was known to be there; what lies there now may be another. */
const struct image_header *module_image(uint64_t address)
{
    uint64_t magic;

    for (uint32_t i = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE); i-- > 0;)
        if (address - known[i]->base < known[i]->size)
            return images[i] && pages_read_own((uintptr_t)&images[i]->magic, &magic) &&
                           magic == IMAGE_MAGIC &&
                           images[i]->first_function == known[i]->first_function
                       ? images[i]
                       : NULL;
    return NULL;
}

static void scan_module(const struct loaded *loaded)
{
    struct trace_module record = {.base = loaded->base, .size = loaded->size};

    if (!is_known(loaded->base, loaded->path))
        add_module(&record, loaded->path, NULL);
}

void modules_scan(void)
{
    loaded_each(scan_module);
}

/* What is being registered: found in the same walk as what else was loaded since the last one, for
   each walk reads all of /proc/self/maps. */
static struct {
    const struct trace_module *record;
    const struct image_header *image;
    bool is_found;
} registering;

static void scan_or_register(const struct loaded *loaded)
{
    if (loaded->base != registering.record->base) {
        scan_module(loaded);
        return;
    }
    registering.is_found = true;
    add_module(registering.record, loaded->path, registering.image);
}

static const char *last_part(const char *path)
{
    const char *part = path;

    for (; *path; path++)
        if (*path == '/')
            part = path + 1;
    return part;
}

/*
 * The path of an image that an earlier walk has met, before its first call: of a program's
 * libraries the first that is called has met all the others. Null if another walk has to tell: the
 * address may be another file's by now.
 */
static const char *path_met(uint64_t base, const char *original_path)
{
    for (uint32_t i = known_count; i-- > 0;) {
        if (known[i]->base != base)
            continue;
        return !(known[i]->flags & TRACE_MODULE_INSTRUMENTED) &&
                       text_equal(last_part(known[i]->path), last_part(original_path))
                   ? known[i]->path
                   : NULL;
    }
    return NULL;
}

/* The walk may show it elsewhere: of a small file that lld linked, several segments begin in the
   first page. */
static void add_registered(const struct trace_module *record, const char *original_path,
                           const struct image_header *image)
{
    const char *path = path_met(record->base, original_path);

    if (path) {
        add_module(record, path, image);
        return;
    }
    registering.record = record;
    registering.image = image;
    registering.is_found = false;
    loaded_each(scan_or_register);
    if (registering.is_found)
        return;
    path = loaded_path(record->base);
    add_module(record, path ? path : original_path, image);
}

void module_register(struct image_header *image)
{
    const char *base = (const char *)image - image->header_rva;
    const struct image_manifest *manifest = (const void *)(base + image->manifest_rva);
    struct trace_module record = {
        .flags =
            TRACE_MODULE_INSTRUMENTED |
            (image->flags & IMAGE_COUNTS_INSTRUCTIONS && session.is_adaptive ? TRACE_MODULE_COUNTED
                                                                             : 0),
        .base = (uintptr_t)base,
        .size = image->image_size,
        .first_function = next_function,
        .function_count = manifest->function_count,
        .original_hash = manifest->original_hash,
        .build_id_size = manifest->build_id ? manifest->build_id_size : 0,
    };

    if (record.build_id_size > sizeof(record.build_id))
        record.build_id_size = sizeof(record.build_id);
    memcpy(record.build_id, (const char *)manifest + manifest->build_id, record.build_id_size);
    next_function += manifest->function_count;
    add_registered(&record, (const char *)manifest + manifest->original_path, image);
    generated_note(image);
    __atomic_store_n(&image->first_function, record.first_function, __ATOMIC_RELEASE);
}
