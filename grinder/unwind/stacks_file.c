#include "grinder/unwind/stacks_file.h"

#include <stdlib.h>
#include <string.h>

#include "support/bounded_file.h"
#include "support/memory.h"

bool stacks_file_open(struct stacks_file *file, const char *path, struct failure *failure)
{
    struct bounded_file bounded;

    *file = (struct stacks_file){0};
    if (!bounded_file_open(&bounded, path, failure))
        return false;
    if (bounded_file_read(&bounded, &file->header, sizeof(file->header), 0) == 0 &&
        !memcmp(file->header.magic, STACKS_MAGIC, sizeof(file->header.magic)) &&
        file->header.version == STACKS_VERSION && file->header.period_ns) {
        file->bytes = bounded_file_copy(&bounded, 0, bounded.size);
        file->size = bounded.size;
    }
    bounded_file_close(&bounded);
    stacks_file_rewind(file);
    if (!file->bytes)
        return fail_because(failure,
                            "expected whole stacks, found something else or a damaged file");
    return true;
}

void stacks_file_rewind(struct stacks_file *file)
{
    for (size_t i = 0; i < file->dump_count; i++) {
        free(file->dumps[i]->bytes);
        free(file->dumps[i]);
    }
    pair_index_free(&file->tids);
    file->dump_count = 0;
    file->next = sizeof(file->header);
}

void stacks_file_close(struct stacks_file *file)
{
    stacks_file_rewind(file);
    free(file->dumps);
    free(file->bytes);
    *file = (struct stacks_file){0};
}

static struct stacks_dump *dump_of(struct stacks_file *file, uint32_t tid)
{
    uint32_t place = pair_index_add(&file->tids, tid, 0);

    if (place < file->dump_count)
        return file->dumps[place];
    file->dumps =
        memory_grow(file->dumps, file->dump_count, &file->dump_room, sizeof(*file->dumps));
    file->dumps[file->dump_count] = memory_zeroed(1, sizeof(*file->dumps[0]));
    file->dumps[file->dump_count]->tid = tid;
    return file->dumps[file->dump_count++];
}

/* No more than what the file has had of the thread: of a small file a thousand threads are small.
 */
static void make_room(struct stacks_dump *dump, size_t size)
{
    if (size <= dump->room)
        return;
    dump->room = size < 2 * dump->room ? 2 * dump->room : size;
    if (dump->room > STACKS_MOST_STACK)
        dump->room = STACKS_MOST_STACK;
    dump->bytes = memory_or_exit(realloc(dump->bytes, dump->room), dump->room);
}

/* False: the record is not of what it says. */
static bool take_dump(struct stacks_dump *dump, const struct stacks_sample *sample,
                      const unsigned char *bytes)
{
    uint64_t address = sample->registers[STACKS_RSP], kept_from = address + sample->low;
    uint64_t size = (uint64_t)sample->low + sample->kept + sample->high;
    uint64_t begin = kept_from - dump->address;

    if (size > STACKS_MOST_STACK || (sample->low | sample->kept | sample->high) % 8 ||
        sample->head.size - sizeof(*sample) < sample->low + sample->high)
        return false;
    if (sample->kept && (begin > dump->size || sample->kept > dump->size - begin))
        return false;
    make_room(dump, size);
    if (sample->kept)
        memmove(dump->bytes + sample->low, dump->bytes + begin, sample->kept);
    if (sample->low)
        memcpy(dump->bytes, bytes, sample->low);
    if (sample->high)
        memcpy(dump->bytes + sample->low + sample->kept, bytes + sample->low, sample->high);
    dump->address = address;
    dump->size = size;
    dump->kept = sample->kept ? kept_from : address + size;
    return true;
}

static bool read_mapping(const unsigned char *bytes, uint32_t size, struct stacks_mapping *mapping)
{
    struct stacks_map map;

    if (size <= sizeof(map))
        return false;
    memcpy(&map, bytes, sizeof(map));
    if (map.build_id_size > sizeof(map.build_id) ||
        !memchr(bytes + sizeof(map), 0, size - sizeof(map)))
        return false;
    *mapping = (struct stacks_mapping){
        .address = map.address,
        .length = map.length,
        .offset = map.offset,
        .build_id_size = map.build_id_size,
        .path = (const char *)bytes + sizeof(map),
    };
    memcpy(mapping->build_id, map.build_id, sizeof(map.build_id));
    return true;
}

int stacks_file_next(struct stacks_file *file, struct stacks_mapping *mapping,
                     struct stacks_sample *sample, const struct stacks_dump **dump)
{
    struct stacks_record head;

    while (file->size - file->next >= sizeof(head)) {
        const unsigned char *record = file->bytes + file->next;
        memcpy(&head, record, sizeof(head));
        if (head.size < sizeof(head) || head.size > file->size - file->next || head.size % 8)
            break;
        file->next += head.size;
        if (head.kind == STACKS_MAP && read_mapping(record, head.size, mapping))
            return STACKS_MAP;
        if (head.kind != STACKS_SAMPLE || head.size < sizeof(*sample))
            continue;
        memcpy(sample, record, sizeof(*sample));
        *dump = dump_of(file, sample->tid);
        if (take_dump((struct stacks_dump *)*dump, sample, record + sizeof(*sample)))
            return STACKS_SAMPLE;
        ((struct stacks_dump *)*dump)->size = 0;
    }
    return 0;
}
