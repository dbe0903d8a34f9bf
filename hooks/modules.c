#include "hooks/modules.h"

#include "hooks/maps.h"
#include "hooks/memory.h"
#include "hooks/session.h"
#include "hooks/thread.h"
#include "thunkstash/linux/pages.h"

#define MOST_MODULES 4096
#define PATH_SIZE    3072 /* a record has to fit a block */

/* What was recorded, kept apart from the trace: a fork's child writes it again. */
struct known_module {
    struct trace_module record;
    char *path;
};

static struct known_module *known;
static uint32_t known_count;
static uint32_t next_function = 1;
static struct trace_block *block; /* where records are written */
static uint32_t block_session;

static uint32_t units_of(const char *path)
{
    uint64_t size = sizeof(struct trace_module) + text_length(path) + 1;

    return (uint32_t)((size + TRACE_UNIT - 1) / TRACE_UNIT);
}

/* Room for this many units, in the current block or a new one; null if the trace is full. */
static struct trace_module *room_for(uint32_t units)
{
    if (block_session != session.number)
        block = 0;
    if (!block || block->used + units > TRACE_BLOCK_UNITS) {
        block = session_block(0);
        block_session = session.number;
        if (!block)
            return 0;
        block_commit(block, TRACE_BLOCK_MODULES);
    }
    return (struct trace_module *)((char *)block + block->used * TRACE_UNIT);
}

static void write_record(const struct known_module *module)
{
    uint32_t units = units_of(module->path);
    struct trace_module *record = session.trace ? room_for(units) : 0;

    if (!record)
        return;
    *record = module->record;
    record->size_units = 0;
    memcpy(record->path, module->path, text_length(module->path) + 1);
    __atomic_store_n(&record->size_units, units, __ATOMIC_RELEASE);
    __atomic_store_n(&block->used, block->used + units, __ATOMIC_RELEASE);
}

void modules_rewrite(void)
{
    for (uint32_t i = 0; i < known_count; i++)
        write_record(&known[i]);
}

/* Paths live as long as the process. */
static char *keep_path(const char *path)
{
    static char *room, *end;
    uint64_t size = text_length(path) + 1;
    char *kept;

    if (room + size > end || !room) {
        room = pages_take(1 << 16);
        if (!room)
            return 0;
        end = room + (1 << 16);
    }
    kept = room;
    memcpy(kept, path, size);
    room += size;
    return kept;
}

static void add_module(const struct trace_module *record, const char *path)
{
    static char cut[PATH_SIZE];
    struct known_module *module;

    if (!known)
        known = pages_take(MOST_MODULES * sizeof *known);
    if (!known || known_count == MOST_MODULES)
        return;
    text_copy(cut, sizeof cut, path);
    module = &known[known_count];
    module->record = *record;
    module->record.seen_ticks = ticks_now();
    module->path = keep_path(cut);
    if (!module->path)
        return;
    module->record.path_size = (uint32_t)text_length(cut) + 1;
    known_count++;
    write_record(module);
}

static bool is_known(uint64_t base, const char *path)
{
    for (uint32_t i = known_count; i-- > 0;)
        if (known[i].record.base == base)
            return text_equal(known[i].path, path);
    return false;
}

/* Joins the neighbouring mappings of one file to a module. */
struct scan {
    char path[PATH_SIZE];
    uint64_t base, end;
    bool executable;
};

static void scan_close(struct scan *scan)
{
    struct trace_module record = {.base = scan->base, .size = scan->end - scan->base};

    if (scan->executable && !is_known(scan->base, scan->path))
        add_module(&record, scan->path);
    scan->executable = false;
    scan->path[0] = 0;
}

static bool scan_mapping(const struct mapping *mapping, void *with)
{
    struct scan *scan = with;

    if (!text_equal(mapping->path, scan->path) || mapping->offset == 0) {
        scan_close(scan);
        if (mapping->path[0] != '/')
            return true;
        text_copy(scan->path, sizeof scan->path, mapping->path);
        scan->base = mapping->start;
    }
    if (mapping->path[0] != '/')
        return true;
    scan->end = mapping->end;
    scan->executable |= mapping->protection[2] == 'x';
    return true;
}

void modules_scan(void)
{
    static struct scan scan;

    scan.path[0] = 0;
    scan.executable = false;
    if (maps_each(scan_mapping, &scan))
        scan_close(&scan);
}

struct path_search {
    uint64_t address;
    char path[PATH_SIZE];
};

static bool find_path(const struct mapping *mapping, void *with)
{
    struct path_search *search = with;

    if (search->address >= mapping->end)
        return true;
    if (search->address >= mapping->start)
        text_copy(search->path, sizeof search->path, mapping->path);
    return false;
}

void module_register(struct image_header *image)
{
    static struct path_search search;
    const char *base = (const char *)image - image->header_rva;
    const struct image_manifest *manifest = (const void *)(base + image->manifest_rva);
    struct trace_module record = {
        .flags = TRACE_MODULE_INSTRUMENTED,
        .base = (uint64_t)base,
        .size = image->image_size,
        .first_function = next_function,
        .function_count = manifest->function_count,
        .original_hash = manifest->original_hash,
        .build_id_size = manifest->build_id ? manifest->build_id_size : 0,
    };

    if (record.build_id_size > sizeof record.build_id)
        record.build_id_size = sizeof record.build_id;
    memcpy(record.build_id, (const char *)manifest + manifest->build_id, record.build_id_size);
    next_function += manifest->function_count;
    search.address = (uint64_t)base;
    search.path[0] = 0;
    maps_each(find_path, &search);
    add_module(&record, search.path[0] == '/' ? search.path
                                              : (const char *)manifest + manifest->original_path);
    __atomic_store_n(&image->first_function, record.first_function, __ATOMIC_RELEASE);
    modules_scan();
}
