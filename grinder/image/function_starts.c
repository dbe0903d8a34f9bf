#include "grinder/image/function_starts.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

/* The only encodings that linkers write: what the header is about as distances from itself, the
   number of entries as it is, entries as distances from the header. */
#define HDR_VERSION      1
#define HDR_COUNT_UDATA4 0x03
#define HDR_TABLE        0x3b /* datarel, sdata4 */

struct frame_header {
    uint8_t version, pointer_encoding, count_encoding, table_encoding;
    int32_t frames;
    uint32_t count;
};

struct frame_entry {
    int32_t start, frame;
};

struct starts {
    uint32_t *rvas;
    size_t count, room;
    const struct loaded_ranges *ranges;
};

static void add(struct starts *starts, uint64_t address)
{
    uint64_t rva = address - starts->ranges->base;
    const struct loaded_range *range = loaded_range_at(starts->ranges, rva);

    if (address < starts->ranges->base || !range || !range->is_executable || rva > UINT32_MAX)
        return;
    starts->rvas = memory_grow(starts->rvas, starts->count, &starts->room, sizeof(*starts->rvas));
    starts->rvas[starts->count++] = (uint32_t)rva;
}

/* Labels may stand within functions. */
static void add_symbols(struct starts *starts, const struct image_file *image)
{
    struct symbol_table symbols = {0};

    image_file_symbols(image, "", &symbols);
    for (size_t i = 0; i < symbols.count; i++)
        if (symbols.symbols[i].rank >= RANK_EXPORT)
            add(starts, symbols.symbols[i].address);
    symbol_table_free(&symbols);
}

static void add_framed(struct starts *starts, const struct elf_file *elf)
{
    const Elf64_Shdr *section = elf_section_named(elf, ".eh_frame_hdr");
    struct frame_header header;
    char *bytes = section ? elf_section_read(elf, section) : NULL;
    uint64_t room;

    if (!bytes || section->sh_size < sizeof(header))
        goto err;
    memcpy(&header, bytes, sizeof(header));
    room = (section->sh_size - sizeof(header)) / sizeof(struct frame_entry);
    if (header.version != HDR_VERSION || header.count_encoding != HDR_COUNT_UDATA4 ||
        header.table_encoding != HDR_TABLE)
        goto err;
    for (uint64_t i = 0; i < header.count && i < room; i++) {
        struct frame_entry entry;
        memcpy(&entry, bytes + sizeof(header) + i * sizeof(entry), sizeof(entry));
        add(starts, section->sh_addr + (uint64_t)(int64_t)entry.start);
    }
err:
    free(bytes);
}

static int compare(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static void make_manifest(struct manifest *manifest, const struct starts *starts)
{
    size_t size = sizeof(struct image_manifest) + starts->count * sizeof(*manifest->functions);
    struct image_manifest *head = memory_zeroed(1, size);
    struct manifest_function *functions = (struct manifest_function *)(head + 1);
    uint32_t count = 0;

    for (size_t i = 0; i < starts->count; i++)
        if (!i || starts->rvas[i] != starts->rvas[i - 1])
            functions[count++].rva = starts->rvas[i];
    head->size = (uint32_t)size;
    head->functions = sizeof(*head);
    head->function_count = count;
    head->preferred_base = starts->ranges->base;
    *manifest = (struct manifest){.head = head, .functions = functions, .function_count = count};
}

bool function_starts_read(struct manifest *manifest, const struct image_file *image,
                          const struct loaded_ranges *ranges)
{
    struct starts starts = {.ranges = ranges};

    if (image->format != IMAGE_ELF)
        return false;
    add_symbols(&starts, image);
    add_framed(&starts, &image->elf);
    add(&starts, image->elf.header.e_entry);   /* the dynamic linker's has no symbol */
    for (size_t i = 0; i < ranges->count; i++) /* what stands in front of all is somebody's, too */
        if (ranges->items[i].is_executable)
            add(&starts, ranges->base + ranges->items[i].rva);
    if (!starts.count)
        return false;
    qsort(starts.rvas, starts.count, sizeof(*starts.rvas), compare);
    make_manifest(manifest, &starts);
    free(starts.rvas);
    return true;
}
