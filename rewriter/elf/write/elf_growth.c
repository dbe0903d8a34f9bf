#include "rewriter/elf/write/elf_growth.h"

#include <string.h>

#include "trace/image_manifest.h"

static uint64_t end_of(struct elf_span span)
{
    return span.address + span.size;
}

/* Bytes of the relative relocations, which come first. */
static uint64_t relative_size(const struct elf_image *image)
{
    const struct elf_class *class = image->class;
    uint64_t count = elf_dynamic_value(image, class->relocations.relative_count, 0),
             all = elf_relocations(image).count;

    return (count < all ? count : all) * elf_record_size(class, ELF_RELOCATION);
}

static void overwrite(struct elf_growth *growth, uint64_t address, size_t size)
{
    growth->overwrites[growth->overwrite_count++] =
        (struct elf_overwrite){address, growth->overwritten, size};
    growth->overwritten += size;
}

static void plan_headers(struct elf_growth *growth)
{
    const struct elf_image *image = growth->image;
    const uint8_t *first = image->bytes + image->header.e_phoff;
    struct elf_span *headers = &growth->headers;

    for (size_t i = 0; growth->room.has_headers && i < image->load_count; i++) {
        const Elf64_Phdr *load = &image->segments[image->loads[i]];
        uint64_t at = image->header.e_phoff - load->p_offset;

        if (at < load->p_filesz && elf_at(image, load->p_vaddr + at, headers->size) == first)
            headers->address = load->p_vaddr + at;
    }
    if (headers->address)
        overwrite(growth, headers->address, headers->size);
}

static void plan_tables(struct elf_growth *growth)
{
    const struct elf_image *image = growth->image;
    size_t strings = strlen(growth->agent) + 1 + sizeof(IMAGE_HOOK_SYMBOL);
    size_t segment = elf_record_size(image->class, ELF_SEGMENT);
    size_t symbols = growth->new_symbols * elf_record_size(image->class, ELF_SYMBOL);
    size_t relocation = elf_record_size(image->class, ELF_RELOCATION);

    elf_room_plan(&growth->room, image,
                  &(struct elf_room_need){
                      .headers = growth->headers.size - image->segment_count * segment,
                      .strings = strings,
                      .symbols = symbols,
                      .relocations = relocation,
                  });
    plan_headers(growth);
    if (growth->room.has_strings)
        overwrite(growth, end_of(growth->strings), strings);
    if (growth->room.has_symbols)
        overwrite(growth, end_of(growth->symbols), symbols);
    if (growth->room.has_relocations) {
        if (growth->relative_size < growth->relocations.size)
            overwrite(growth, growth->relocations.address + growth->relative_size, relocation);
        overwrite(growth, end_of(growth->relocations), relocation);
    }
}

void elf_growth_plan(struct elf_growth *growth, const struct elf_exports *exports,
                     const char *agent, size_t headers)
{
    const struct elf_image *image = exports->image;
    const struct elf_class *class = image->class;

    *growth = (struct elf_growth){
        .image = image,
        .exports = exports,
        .agent = agent,
        .headers = {.size = headers * elf_record_size(class, ELF_SEGMENT)},
        .strings = {elf_dynamic_value(image, DT_STRTAB, 0), elf_dynamic_value(image, DT_STRSZ, 0)},
        .symbols = {elf_dynamic_value(image, DT_SYMTAB, 0),
                    image->symbol_count * elf_record_size(class, ELF_SYMBOL)},
        .relocations = {elf_dynamic_value(image, class->relocations.table, 0),
                        elf_relocations(image).count * elf_record_size(class, ELF_RELOCATION)},
        .relative_size = relative_size(image),
        .new_symbols = 1 + exports->count,
    };
    if (agent)
        plan_tables(growth);
}

bool elf_relocation_is_in_place(const struct elf_growth *growth, size_t index)
{
    size_t size = elf_record_size(growth->image->class, ELF_RELOCATION);

    return !growth->agent ||
           (growth->room.has_relocations && index * size != growth->relative_size);
}

bool elf_symbol_is_in_place(const struct elf_growth *growth)
{
    return !growth->agent || growth->room.has_symbols;
}

static bool is_overlapping(uint64_t offset, uint64_t size, uint64_t other, uint64_t other_size)
{
    return offset < other + other_size && other < offset + size;
}

bool elf_growth_takes(const struct elf_growth *growth, uint64_t address, uint64_t size)
{
    const struct elf_image *image = growth->image;
    const uint8_t *bytes = elf_at(image, address, 1);
    uint64_t offset;

    if (!bytes)
        return false;
    offset = (uint64_t)(bytes - image->bytes);
    for (size_t i = 0; i < growth->overwrite_count; i++) {
        const struct elf_overwrite *taken = &growth->overwrites[i];

        bytes = elf_at(image, taken->address, taken->size);
        if (is_overlapping(offset, size, (uint64_t)(bytes - image->bytes), taken->size))
            return true;
    }
    return is_overlapping(offset, size, 0, elf_record_size(image->class, ELF_HEADER));
}

bool elf_growth_note(const struct elf_growth *growth, struct change_list *changes,
                     struct failure *failure)
{
    const struct elf_image *image = growth->image;

    for (size_t i = 0; i < growth->overwrite_count; i++) {
        const struct elf_overwrite *overwrite = &growth->overwrites[i];
        const uint8_t *bytes = elf_at(image, overwrite->address, overwrite->size);

        if (!change_list_add(changes, (uint64_t)(bytes - image->bytes), bytes, overwrite->size))
            return fail(failure, image->path,
                        "expected its dynamic tables in the first 4 GB of the file, found %#llx "
                        "elsewhere",
                        (unsigned long long)overwrite->address);
    }
    return true;
}
