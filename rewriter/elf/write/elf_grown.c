#include "rewriter/elf/write/elf_grown.h"

#include <stdlib.h>
#include <string.h>

#include "trace/image_manifest.h"

#define MOVE_ALIGNMENT 64
#define VERSION_HIDDEN 0x8000 /* linkers pass over it; of no use where no version is defined */

void elf_grown_store(const struct elf_grown *grown)
{
    const struct elf_growth *growth = grown->growth;

    for (size_t i = 0; i < growth->overwrite_count; i++) {
        const struct elf_overwrite *overwrite = &growth->overwrites[i];

        memcpy(elf_at(growth->image, overwrite->address, overwrite->size),
               grown->overwriting.bytes + overwrite->offset, overwrite->size);
    }
}

uint8_t *elf_grown_at(const struct elf_grown *grown, uint64_t address)
{
    const struct elf_growth *growth = grown->growth;

    for (size_t i = 0; i < growth->overwrite_count; i++) {
        const struct elf_overwrite *overwrite = &growth->overwrites[i];

        if (address - overwrite->address < overwrite->size)
            return grown->overwriting.bytes + overwrite->offset + (address - overwrite->address);
    }
    if (address < grown->segment->address)
        return elf_at(growth->image, address, 1);
    return grown->segment->bytes.bytes + (address - grown->segment->address);
}

uint64_t elf_relocation_place(const struct elf_grown *grown, size_t index)
{
    const struct elf_growth *growth = grown->growth;
    uint64_t offset = index * elf_record_size(growth->image->class, ELF_RELOCATION);

    if (!growth->agent)
        return growth->relocations.address + offset;
    /* The first that is not relative gave its place to that of the hook word. */
    if (offset == growth->relative_size)
        offset = growth->relocations.size;
    return grown->relocations.address + offset;
}

uint64_t elf_symbol_place(const struct elf_grown *grown, size_t index)
{
    const struct elf_growth *growth = grown->growth;
    uint64_t table = growth->agent ? grown->symbols.address : growth->symbols.address;

    return table + index * elf_record_size(growth->image->class, ELF_SYMBOL);
}

/* A table with `added` bytes more at its end: where it is, or copied. */
static struct elf_span grow(struct elf_grown *grown, struct elf_span old, bool has_room,
                            size_t added)
{
    struct buffer *to = &grown->segment->bytes;
    struct elf_span place = {old.address, old.size + added};

    if (has_room)
        return place;
    buffer_align(to, 8, 0);
    place.address = elf_new_segment_end(grown->segment);
    if (old.size)
        buffer_append(to, elf_at(grown->growth->image, old.address, old.size), old.size);
    buffer_append_zeros(to, added);
    return place;
}

static void build_strings(struct elf_grown *grown)
{
    const struct elf_growth *growth = grown->growth;
    size_t size = strlen(growth->agent) + 1;

    grown->hook_name = growth->strings.size;
    grown->agent_name = grown->hook_name + sizeof(IMAGE_HOOK_SYMBOL);
    grown->strings =
        grow(grown, growth->strings, growth->room.has_strings, sizeof(IMAGE_HOOK_SYMBOL) + size);
    memcpy(elf_grown_at(grown, grown->strings.address + grown->hook_name), IMAGE_HOOK_SYMBOL,
           sizeof(IMAGE_HOOK_SYMBOL));
    memcpy(elf_grown_at(grown, grown->strings.address + grown->agent_name), growth->agent, size);
}

static void build_symbols(struct elf_grown *grown, const struct copy_set *copies)
{
    const struct elf_growth *growth = grown->growth;
    const struct elf_class *class = growth->image->class;
    size_t section = growth->image->section_count + ELF_STUBS_SECTION;
    size_t size = elf_record_size(class, ELF_SYMBOL);
    Elf64_Sym hook = {.st_name = (uint32_t)grown->hook_name,
                      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)};
    uint8_t *at;

    grown->symbols =
        grow(grown, growth->symbols, growth->room.has_symbols, growth->new_symbols * size);
    at = elf_grown_at(grown, grown->symbols.address + growth->symbols.size);
    elf_record_write(class, ELF_SYMBOL, &hook, at);
    for (size_t i = 0; i < growth->exports->count; i++) {
        Elf64_Sym copy = elf_export_symbol(growth->exports, i, copies, section);

        elf_record_write(class, ELF_SYMBOL, &copy, at + (i + 1) * size);
    }
}

static void build_versions(struct elf_grown *grown)
{
    const struct elf_growth *growth = grown->growth;
    const struct elf_image *image = growth->image;
    struct elf_span old = {elf_dynamic_value(image, DT_VERSYM, 0),
                           image->symbol_count * sizeof(Elf64_Half)};
    Elf64_Half any = VER_NDX_GLOBAL, of_copy = any;
    uint8_t *at;

    if (!old.address || !elf_at(image, old.address, old.size))
        return;
    grown->versions = grow(grown, old, false, growth->new_symbols * sizeof(any));
    at = elf_grown_at(grown, grown->versions.address + old.size);
    memcpy(at, &any, sizeof(any));
    if (elf_dynamic(image, DT_VERDEF))
        of_copy |= VERSION_HIDDEN;
    for (size_t i = 0; i < growth->exports->count; i++)
        memcpy(at + (i + 1) * sizeof(of_copy), &of_copy, sizeof(of_copy));
}

/*
 * DT_HASH has a chain entry for every symbol, also for undefined ones, which end theirs at once.
 * Nobody looks for these, so that next to a DT_GNU_HASH, which leaves them out, it may go without.
 */
static void build_hash(struct elf_grown *grown)
{
    const struct elf_growth *growth = grown->growth;
    const struct elf_image *image = growth->image;
    uint64_t address = elf_dynamic_value(image, DT_HASH, 0);
    const uint8_t *words = address ? elf_at(image, address, 8) : NULL;
    uint32_t counts[2];
    size_t size;

    if (!words || elf_dynamic(image, DT_GNU_HASH))
        return;
    memcpy(counts, words, sizeof(counts));
    size = (2 + (size_t)counts[0] + counts[1]) * 4;
    if (!elf_at(image, address, size) || counts[1] != image->symbol_count)
        return;
    grown->hash = grow(grown, (struct elf_span){address, size}, false,
                       growth->new_symbols * sizeof(uint32_t));
    counts[1] += (uint32_t)growth->new_symbols;
    memcpy(elf_grown_at(grown, grown->hash.address + 4), &counts[1], sizeof(counts[1]));
}

static void build_gnu_hash(struct elf_grown *grown)
{
    const struct elf_growth *growth = grown->growth;
    struct elf_span old = elf_exports_hash(growth->exports);

    if (!old.size)
        return;
    grown->gnu_hash = grow(grown, old, false, growth->new_symbols * sizeof(uint32_t));
    elf_exports_chain(growth->exports, elf_grown_at(grown, grown->gnu_hash.address),
                      grown->gnu_hash.size, IMAGE_HOOK_SYMBOL);
}

/* The new one stands behind the relative ones, and the one that it displaces at the end. */
static void build_relocations(struct elf_grown *grown)
{
    const struct elf_growth *growth = grown->growth;
    struct elf_span old = growth->relocations;
    const uint8_t *bytes = elf_at(growth->image, old.address, old.size);
    size_t size = elf_record_size(growth->image->class, ELF_RELOCATION);

    grown->relocations = grow(grown, old, growth->room.has_relocations, size);
    grown->hook_relocation = grown->relocations.address + growth->relative_size;
    if (growth->relative_size < old.size)
        memcpy(elf_grown_at(grown, grown->relocations.address + old.size),
               bytes + growth->relative_size, size);
}

/* What made room, in a place of its own. */
static void build_moved(struct elf_grown *grown)
{
    struct buffer *to = &grown->segment->bytes;

    grown->moves = grown->growth->room.moves;
    for (size_t i = 0; i < grown->moves.count; i++) {
        struct elf_move *move = &grown->moves.items[i];

        buffer_append_zeros(to,
                            (move->from - elf_new_segment_end(grown->segment)) % MOVE_ALIGNMENT);
        move->to = elf_new_segment_end(grown->segment);
        buffer_append(to, elf_at(grown->growth->image, move->from, move->size), move->size);
    }
}

static void build_headers(struct elf_grown *grown)
{
    grown->headers = grown->growth->headers;
    if (grown->headers.address)
        return;
    grown->headers.address = elf_new_segment_end(grown->segment);
    buffer_append_zeros(&grown->segment->bytes, grown->headers.size);
}

void elf_grown_build(struct elf_grown *grown, const struct elf_growth *growth,
                     struct elf_new_segment *segment, const struct copy_set *copies)
{
    *grown = (struct elf_grown){.growth = growth, .segment = segment};
    buffer_append_zeros(&grown->overwriting, growth->overwritten);
    build_headers(grown);
    if (!growth->agent)
        return;
    build_moved(grown);
    build_strings(grown);
    build_symbols(grown, copies);
    build_versions(grown);
    build_hash(grown);
    build_gnu_hash(grown);
    build_relocations(grown);
}

void elf_grown_free(struct elf_grown *grown)
{
    free(grown->overwriting.bytes);
    *grown = (struct elf_grown){0};
}

void elf_grown_bind(const struct elf_grown *grown, uint64_t hook)
{
    const struct elf_image *image = grown->growth->image;
    Elf64_Rela relocation = {
        .r_offset = hook,
        .r_info = ELF64_R_INFO(image->symbol_count, image->class->relocations.slot),
    };

    elf_record_write(image->class, ELF_RELOCATION, &relocation,
                     elf_grown_at(grown, grown->hook_relocation));
}
