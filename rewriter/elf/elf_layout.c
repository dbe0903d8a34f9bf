#include "rewriter/elf/elf_layout.h"

#include "trace/image_manifest.h"

#include <string.h>

uint64_t elf_layout_header(const struct elf_layout *layout)
{
    return layout->data_address + layout->image_header;
}

size_t elf_layout_new_segments(const struct elf_layout *layout)
{
    return ELF_NEW_SEGMENTS +
           (layout->embedding ? elf_embedding_segments(layout->embedding, layout->image) : 0);
}

static struct elf_part part_copy(struct elf_layout *layout, const void *bytes, size_t size,
                                 size_t alignment)
{
    buffer_align(&layout->tables, alignment, 0);
    return (struct elf_part){buffer_append(&layout->tables, bytes, size), size};
}

static void part_extend(struct elf_layout *layout, struct elf_part *part, const void *bytes,
                        size_t size)
{
    buffer_append(&layout->tables, bytes, size);
    part->size += size;
}

static void build_symbols(struct elf_layout *layout)
{
    struct elf_table symbols = elf_dynamic_symbols(layout->image);
    Elf64_Sym hook = {.st_name = (uint32_t)layout->hook_name,
                      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)};

    layout->symbols = part_copy(layout, symbols.bytes, symbols.count * sizeof hook, 8);
    part_extend(layout, &layout->symbols, &hook, sizeof hook);
}

static void build_versions(struct elf_layout *layout)
{
    uint64_t address = elf_dynamic_value(layout->image, DT_VERSYM, 0);
    size_t size = layout->image->symbol_count * sizeof(Elf64_Half);
    const uint8_t *versions = address ? elf_at(layout->image, address, size) : NULL;
    Elf64_Half any = VER_NDX_GLOBAL;

    if (!versions)
        return;
    layout->versions = part_copy(layout, versions, size, 8);
    part_extend(layout, &layout->versions, &any, sizeof any);
}

static void build_strings(struct elf_layout *layout, const char *agent)
{
    uint64_t size = elf_dynamic_value(layout->image, DT_STRSZ, 0);
    uint64_t address = elf_dynamic_value(layout->image, DT_STRTAB, 0);

    layout->strings = part_copy(layout, elf_at(layout->image, address, size), size, 8);
    layout->hook_name = layout->strings.size;
    part_extend(layout, &layout->strings, IMAGE_HOOK_SYMBOL, sizeof IMAGE_HOOK_SYMBOL);
    layout->agent_name = layout->strings.size;
    part_extend(layout, &layout->strings, agent, strlen(agent) + 1);
}

/* DT_HASH has a chain entry for every symbol, also for undefined ones, which end theirs at once. */
static void build_hash(struct elf_layout *layout)
{
    uint64_t address = elf_dynamic_value(layout->image, DT_HASH, 0);
    const uint8_t *words = address ? elf_at(layout->image, address, 8) : NULL;
    uint32_t counts[2], none = 0;
    size_t size;

    if (!words)
        return;
    memcpy(counts, words, sizeof counts);
    size = (2 + (size_t)counts[0] + counts[1]) * 4;
    words = elf_at(layout->image, address, size);
    if (!words || counts[1] != layout->image->symbol_count)
        return;
    layout->hash = part_copy(layout, words, size, 8);
    part_extend(layout, &layout->hash, &none, sizeof none);
    counts[1]++;
    memcpy(layout->tables.bytes + layout->hash.offset + 4, &counts[1], sizeof counts[1]);
}

static void build_relocations(struct elf_layout *layout)
{
    struct elf_table old = elf_relocations(layout->image);
    size_t first = elf_dynamic_value(layout->image, DT_RELACOUNT, 0);
    size_t entry = sizeof(Elf64_Rela);

    if (first > old.count)
        first = old.count;
    layout->relocations = part_copy(layout, old.bytes, first * entry, 8);
    layout->relocation_slot = buffer_append_zeros(&layout->tables, entry);
    layout->relocations.size += entry;
    part_extend(layout, &layout->relocations, old.bytes ? old.bytes + first * entry : NULL,
                (old.count - first) * entry);
}

void elf_headers_build(struct elf_layout *layout)
{
    size_t count = layout->image->segment_count + elf_layout_new_segments(layout);

    layout->headers.size = count * sizeof(Elf64_Phdr);
    layout->headers.offset = buffer_append_zeros(&layout->tables, layout->headers.size);
}

void elf_tables_build(struct elf_layout *layout, const char *agent)
{
    build_strings(layout, agent);
    build_symbols(layout);
    build_versions(layout);
    build_hash(layout);
    build_relocations(layout);
}

void elf_tables_bind(struct elf_layout *layout)
{
    Elf64_Rela relocation = {
        .r_offset = elf_layout_header(layout) + offsetof(struct image_header, entry_hook),
        .r_info = ELF64_R_INFO(layout->image->symbol_count, R_X86_64_GLOB_DAT),
    };

    memcpy(layout->tables.bytes + layout->relocation_slot, &relocation, sizeof relocation);
}

static void put(struct elf_layout *layout, int64_t tag, uint64_t value)
{
    Elf64_Dyn entry = {.d_tag = tag, .d_un.d_val = value};

    buffer_append(&layout->data, &entry, sizeof entry);
    layout->dynamic.size += sizeof entry;
}

static uint64_t moved(const struct elf_layout *layout, const struct elf_part *part, uint64_t old)
{
    return part->size ? layout->tables_address + part->offset : old;
}

static uint64_t dynamic_value(const struct elf_layout *layout, const Elf64_Dyn *entry)
{
    uint64_t old = entry->d_un.d_val;

    switch (entry->d_tag) {
    case DT_STRTAB:
        return moved(layout, &layout->strings, old);
    case DT_STRSZ:
        return layout->strings.size;
    case DT_SYMTAB:
        return moved(layout, &layout->symbols, old);
    case DT_VERSYM:
        return moved(layout, &layout->versions, old);
    case DT_HASH:
        return moved(layout, &layout->hash, old);
    case DT_RELA:
        return moved(layout, &layout->relocations, old);
    case DT_RELASZ:
        return layout->relocations.size;
    default:
        return old;
    }
}

void elf_dynamic_build(struct elf_layout *layout)
{
    const struct elf_image *image = layout->image;

    put(layout, DT_NEEDED, layout->agent_name);
    for (size_t i = 0; i < image->dynamic_count; i++)
        put(layout, image->dynamic[i].d_tag, dynamic_value(layout, &image->dynamic[i]));
    if (!elf_dynamic(image, DT_RELA))
        put(layout, DT_RELA, layout->tables_address + layout->relocations.offset);
    if (!elf_dynamic(image, DT_RELASZ))
        put(layout, DT_RELASZ, layout->relocations.size);
    if (!elf_dynamic(image, DT_RELAENT))
        put(layout, DT_RELAENT, sizeof(Elf64_Rela));
    put(layout, DT_NULL, 0);
    put(layout, DT_NULL, 0);
}

static Elf64_Phdr segment(const struct elf_layout *layout, uint64_t address, uint64_t size,
                          uint32_t flags)
{
    return (Elf64_Phdr){.p_type = PT_LOAD,
                        .p_flags = flags,
                        .p_offset = address - layout->delta,
                        .p_vaddr = address,
                        .p_paddr = address,
                        .p_filesz = size,
                        .p_memsz = size,
                        .p_align = ELF_PAGE};
}

static void segment_move(const struct elf_layout *layout, Elf64_Phdr *segment, uint64_t address,
                         uint64_t size)
{
    segment->p_offset = address - layout->delta;
    segment->p_vaddr = segment->p_paddr = address;
    segment->p_filesz = segment->p_memsz = size;
}

/* Segments that describe what was moved. */
static Elf64_Phdr segment_follow(const struct elf_layout *layout, Elf64_Phdr header)
{
    if (header.p_type == PT_PHDR)
        segment_move(layout, &header, layout->tables_address + layout->headers.offset,
                     layout->headers.size);
    if (header.p_type == PT_DYNAMIC && layout->dynamic.size)
        segment_move(layout, &header, layout->data_address + layout->dynamic.offset,
                     layout->dynamic.size);
    if (header.p_type == PT_GNU_EH_FRAME && layout->frame_index.size)
        segment_move(layout, &header, layout->tables_address + layout->frame_index.offset,
                     layout->frame_index.size);
    if (header.p_type == PT_TLS && layout->embedding)
        elf_embedding_tls(layout->embedding, layout->delta, &header);
    return header;
}

static uint8_t *put_headers(uint8_t *to, const Elf64_Phdr *headers, size_t count)
{
    memcpy(to, headers, count * sizeof *headers);
    return to + count * sizeof *headers;
}

/* What the image had none of. */
static uint8_t *put_missing(const struct elf_layout *layout, uint8_t *to)
{
    static const uint32_t types[] = {PT_TLS, PT_GNU_EH_FRAME};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        Elf64_Phdr header = {.p_type = types[i], .p_flags = PF_R, .p_align = 8};

        if (elf_segment(layout->image, types[i]))
            continue;
        header = segment_follow(layout, header);
        to = put_headers(to, &header, 1);
    }
    return to;
}

void elf_segments_build(struct elf_layout *layout)
{
    const struct elf_image *image = layout->image;
    uint8_t *to = layout->tables.bytes + layout->headers.offset;
    Elf64_Phdr added[ELF_NEW_SEGMENTS] = {
        segment(layout, layout->stubs.address, layout->stubs.code.size, PF_R | PF_X),
        segment(layout, layout->tables_address, layout->tables.size, PF_R),
        segment(layout, layout->data_address, layout->data.size, PF_R | PF_W),
    };
    size_t last = 0;

    for (size_t i = 0; i < image->segment_count; i++)
        if (image->segments[i].p_type == PT_LOAD)
            last = i;
    for (size_t i = 0; i < image->segment_count; i++) {
        Elf64_Phdr header = segment_follow(layout, image->segments[i]);

        to = put_headers(to, &header, 1);
        if (i != last)
            continue;
        to = put_headers(to, added, ELF_NEW_SEGMENTS);
        if (layout->embedding)
            to = put_headers(to, layout->embedding->loads, EMBEDDING_LOADS);
    }
    if (layout->embedding)
        put_missing(layout, to);
}
