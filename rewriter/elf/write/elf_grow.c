/* The dynamic tables and the program headers, each with its new entries: copied, or grown. */
#include "rewriter/elf/write/elf_grow.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/write/elf_copy_exports.h"
#include "trace/image_manifest.h"

#define MOVE_ALIGNMENT 64
#define VERSION_HIDDEN 0x8000 /* linkers pass over it; of no use where no version is defined */

static uint64_t headers_size(const struct elf_layout *layout)
{
    return (layout->image->segment_count + elf_layout_new_segments(layout)) * sizeof(Elf64_Phdr);
}

static struct elf_place strings_place(const struct elf_image *image)
{
    return (struct elf_place){elf_dynamic_value(image, DT_STRTAB, 0),
                              elf_dynamic_value(image, DT_STRSZ, 0)};
}

static struct elf_place symbols_place(const struct elf_image *image)
{
    return (struct elf_place){elf_dynamic_value(image, DT_SYMTAB, 0),
                              image->symbol_count * sizeof(Elf64_Sym)};
}

/* That of the hook, and of copies. */
static size_t new_symbols(const struct elf_layout *layout)
{
    return 1 + layout->export_count;
}

static struct elf_place relocations_place(const struct elf_image *image)
{
    return (struct elf_place){elf_dynamic_value(image, DT_RELA, 0),
                              elf_relocations(image).count * sizeof(Elf64_Rela)};
}

/* Bytes of the relative relocations, which come first. */
static uint64_t relative_size(const struct elf_image *image)
{
    uint64_t count = elf_dynamic_value(image, DT_RELACOUNT, 0), all = elf_relocations(image).count;

    return (count < all ? count : all) * sizeof(Elf64_Rela);
}

static void overwrite(struct elf_layout *layout, uint64_t address, size_t size)
{
    layout->overwrites[layout->overwrite_count++] = (struct elf_overwrite){
        .address = address,
        .offset = buffer_append_zeros(&layout->overwriting, size),
        .size = size,
    };
}

static uint64_t end_of(struct elf_place place)
{
    return place.address + place.size;
}

void elf_tables_plan(struct elf_layout *layout, const char *agent)
{
    const struct elf_image *image = layout->image;
    size_t strings = strlen(agent) + 1 + sizeof(IMAGE_HOOK_SYMBOL);
    const uint8_t *first = image->bytes + image->header.e_phoff;

    elf_room_plan(&layout->room, image,
                  &(struct elf_room_need){
                      .headers = elf_layout_new_segments(layout) * sizeof(Elf64_Phdr),
                      .strings = strings,
                      .symbols = new_symbols(layout) * sizeof(Elf64_Sym),
                      .relocations = sizeof(Elf64_Rela),
                  });
    for (size_t i = 0; layout->room.has_headers && i < image->load_count; i++) {
        const Elf64_Phdr *load = &image->segments[image->loads[i]];
        uint64_t at = image->header.e_phoff - load->p_offset;

        if (at < load->p_filesz && elf_at(image, load->p_vaddr + at, headers_size(layout)) == first)
            layout->headers.address = load->p_vaddr + at;
    }
    if (layout->headers.address)
        overwrite(layout, layout->headers.address, headers_size(layout));
    if (layout->room.has_strings)
        overwrite(layout, end_of(strings_place(image)), strings);
    if (layout->room.has_symbols)
        overwrite(layout, end_of(symbols_place(image)), new_symbols(layout) * sizeof(Elf64_Sym));
    if (layout->room.has_relocations) {
        if (relative_size(image) < relocations_place(image).size)
            overwrite(layout, relocations_place(image).address + relative_size(image),
                      sizeof(Elf64_Rela));
        overwrite(layout, end_of(relocations_place(image)), sizeof(Elf64_Rela));
    }
}

bool elf_tables_note(struct elf_layout *layout, struct change_list *changes,
                     struct failure *failure)
{
    const struct elf_image *image = layout->image;

    for (size_t i = 0; i < layout->overwrite_count; i++) {
        const struct elf_overwrite *overwrite = &layout->overwrites[i];
        const uint8_t *bytes = elf_at(image, overwrite->address, overwrite->size);

        if (!change_list_add(changes, (uint64_t)(bytes - image->bytes), bytes, overwrite->size))
            return fail(failure, image->path,
                        "expected its dynamic tables in the first 4 GB of the file, found %#llx "
                        "elsewhere",
                        (unsigned long long)overwrite->address);
    }
    return true;
}

void elf_tables_store(const struct elf_layout *layout)
{
    for (size_t i = 0; i < layout->overwrite_count; i++)
        memcpy(elf_at(layout->image, layout->overwrites[i].address, layout->overwrites[i].size),
               layout->overwriting.bytes + layout->overwrites[i].offset,
               layout->overwrites[i].size);
}

uint8_t *elf_layout_table(const struct elf_layout *layout, uint64_t address)
{
    for (size_t i = 0; i < layout->overwrite_count; i++)
        if (address - layout->overwrites[i].address < layout->overwrites[i].size)
            return layout->overwriting.bytes + layout->overwrites[i].offset +
                   (address - layout->overwrites[i].address);
    if (address < layout->tables_address)
        return elf_at(layout->image, address, 1);
    return layout->tables.bytes + (address - layout->tables_address);
}

/* The first that is not relative gave its place to that of the hook word. */
static bool is_displaced(const struct elf_layout *layout, size_t index)
{
    return !layout->embedding && index * sizeof(Elf64_Rela) == relative_size(layout->image);
}

uint64_t elf_relocation_place(const struct elf_layout *layout, size_t index)
{
    if (layout->embedding)
        return relocations_place(layout->image).address + index * sizeof(Elf64_Rela);
    if (is_displaced(layout, index))
        return end_of(layout->relocations) - sizeof(Elf64_Rela);
    return layout->relocations.address + index * sizeof(Elf64_Rela);
}

uint64_t elf_symbol_place(const struct elf_layout *layout, size_t index)
{
    uint64_t table =
        layout->embedding ? symbols_place(layout->image).address : layout->symbols.address;

    return table + index * sizeof(Elf64_Sym);
}

bool elf_relocation_is_in_place(const struct elf_layout *layout, size_t index)
{
    return layout->embedding || (layout->room.has_relocations && !is_displaced(layout, index));
}

bool elf_symbol_is_in_place(const struct elf_layout *layout)
{
    return layout->embedding || layout->room.has_symbols;
}

static uint64_t next_address(const struct elf_layout *layout)
{
    return layout->tables_address + layout->tables.size;
}

/* A table with `added` bytes more at its end: where it is, or copied. */
static void grow(struct elf_layout *layout, struct elf_place *place, struct elf_place old,
                 bool has_room, size_t added)
{
    const uint8_t *bytes = elf_at(layout->image, old.address, old.size);

    place->address = old.address;
    place->size = old.size + added;
    if (has_room)
        return;
    buffer_align(&layout->tables, 8, 0);
    place->address = next_address(layout);
    if (old.size)
        buffer_append(&layout->tables, bytes, old.size);
    buffer_append_zeros(&layout->tables, added);
}

static void build_strings(struct elf_layout *layout, const char *agent)
{
    struct elf_place old = strings_place(layout->image);

    layout->hook_name = old.size;
    layout->agent_name = old.size + sizeof(IMAGE_HOOK_SYMBOL);
    grow(layout, &layout->strings, old, layout->room.has_strings,
         sizeof(IMAGE_HOOK_SYMBOL) + strlen(agent) + 1);
    memcpy(elf_layout_table(layout, layout->strings.address + layout->hook_name), IMAGE_HOOK_SYMBOL,
           sizeof(IMAGE_HOOK_SYMBOL));
    memcpy(elf_layout_table(layout, layout->strings.address + layout->agent_name), agent,
           strlen(agent) + 1);
}

static void build_symbols(struct elf_layout *layout)
{
    struct elf_place old = symbols_place(layout->image);
    Elf64_Sym hook = {.st_name = (uint32_t)layout->hook_name,
                      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)};

    uint8_t *at;

    grow(layout, &layout->symbols, old, layout->room.has_symbols,
         new_symbols(layout) * sizeof(hook));
    at = elf_layout_table(layout, layout->symbols.address + old.size);
    memcpy(at, &hook, sizeof(hook));
    for (size_t i = 0; i < layout->export_count; i++) {
        Elf64_Sym copy = elf_copy_export(layout, i);

        memcpy(at + (i + 1) * sizeof(copy), &copy, sizeof(copy));
    }
}

static void build_versions(struct elf_layout *layout)
{
    struct elf_place old = {elf_dynamic_value(layout->image, DT_VERSYM, 0),
                            layout->image->symbol_count * sizeof(Elf64_Half)};
    Elf64_Half any = VER_NDX_GLOBAL, of_copy = any;
    uint8_t *at;

    if (!old.address || !elf_at(layout->image, old.address, old.size))
        return;
    grow(layout, &layout->versions, old, false, new_symbols(layout) * sizeof(any));
    at = elf_layout_table(layout, layout->versions.address + old.size);
    memcpy(at, &any, sizeof(any));
    if (elf_dynamic(layout->image, DT_VERDEF))
        of_copy |= VERSION_HIDDEN;
    for (size_t i = 0; i < layout->export_count; i++)
        memcpy(at + (i + 1) * sizeof(of_copy), &of_copy, sizeof(of_copy));
}

/*
 * DT_HASH has a chain entry for every symbol, also for undefined ones, which end theirs at once.
 * Nobody looks for these, so that next to a DT_GNU_HASH, which leaves them out, it may go without.
 */
static void build_hash(struct elf_layout *layout)
{
    uint64_t address = elf_dynamic_value(layout->image, DT_HASH, 0);
    const uint8_t *words = address ? elf_at(layout->image, address, 8) : NULL;
    uint32_t counts[2];
    size_t size;

    if (!words || elf_dynamic(layout->image, DT_GNU_HASH))
        return;
    memcpy(counts, words, sizeof(counts));
    size = (2 + (size_t)counts[0] + counts[1]) * 4;
    if (!elf_at(layout->image, address, size) || counts[1] != layout->image->symbol_count)
        return;
    grow(layout, &layout->hash, (struct elf_place){address, size}, false,
         new_symbols(layout) * sizeof(uint32_t));
    counts[1] += (uint32_t)new_symbols(layout);
    memcpy(elf_layout_table(layout, layout->hash.address + 4), &counts[1], sizeof(counts[1]));
}

static void build_gnu_hash(struct elf_layout *layout)
{
    struct elf_place old = elf_copy_exports_hash(layout);

    if (!old.size)
        return;
    grow(layout, &layout->gnu_hash, old, false, new_symbols(layout) * sizeof(uint32_t));
    elf_copy_exports_chain(layout, elf_layout_table(layout, layout->gnu_hash.address),
                           layout->gnu_hash.size, IMAGE_HOOK_SYMBOL);
}

/* The new one stands behind the relative ones, and the one that it displaces at the end. */
static void build_relocations(struct elf_layout *layout)
{
    struct elf_place old = relocations_place(layout->image);
    uint64_t first = relative_size(layout->image);
    const uint8_t *bytes = elf_at(layout->image, old.address, old.size);

    grow(layout, &layout->relocations, old, layout->room.has_relocations, sizeof(Elf64_Rela));
    layout->relocation_slot = layout->relocations.address + first;
    if (first < old.size)
        memcpy(elf_layout_table(layout, end_of(layout->relocations) - sizeof(Elf64_Rela)),
               bytes + first, sizeof(Elf64_Rela));
}

/* What made room, in a place of its own. */
static void build_moved(struct elf_layout *layout)
{
    for (size_t i = 0; i < layout->room.move_count; i++) {
        struct elf_move *move = &layout->room.moves[i];
        uint64_t gap = (move->from - next_address(layout)) % MOVE_ALIGNMENT;

        buffer_append_zeros(&layout->tables, gap);
        move->to = next_address(layout);
        buffer_append(&layout->tables, elf_at(layout->image, move->from, move->size), move->size);
    }
}

void elf_headers_build(struct elf_layout *layout)
{
    layout->headers.size = headers_size(layout);
    if (layout->headers.address)
        return;
    layout->headers.address = next_address(layout);
    buffer_append_zeros(&layout->tables, layout->headers.size);
}

void elf_tables_build(struct elf_layout *layout, const char *agent)
{
    build_moved(layout);
    build_strings(layout, agent);
    build_symbols(layout);
    build_versions(layout);
    build_hash(layout);
    build_gnu_hash(layout);
    build_relocations(layout);
}

void elf_tables_bind(struct elf_layout *layout)
{
    Elf64_Rela relocation = {
        .r_offset = elf_layout_hook(layout),
        .r_info = ELF64_R_INFO(layout->image->symbol_count, R_X86_64_GLOB_DAT),
    };

    memcpy(elf_layout_table(layout, layout->relocation_slot), &relocation, sizeof(relocation));
}
