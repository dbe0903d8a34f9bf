#include "rewriter/elf/code/elf_probes.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

#define OWNER "stapsdt"
#define TYPE  3

static void add(struct elf_probes *probes, const struct elf_image *image, const uint8_t *bytes)
{
    const Elf64_Shdr *base = elf_section(image, ".stapsdt.base");
    uint64_t pc = elf_word_read(image->class, bytes);
    uint64_t moved =
        base ? base->sh_addr - elf_word_read(image->class, bytes + image->class->word) : 0;

    probes->items =
        memory_grow(probes->items, probes->count, &probes->room, sizeof(*probes->items));
    probes->items[probes->count++] =
        (struct elf_probe){pc + moved, (uint64_t)(bytes - image->bytes), moved};
}

static uint64_t padded(uint64_t size)
{
    return (size + 3) & ~3ull;
}

static void read_notes(struct elf_probes *probes, const struct elf_image *image,
                       const uint8_t *bytes, uint64_t size)
{
    Elf64_Nhdr note;

    while (size >= sizeof(note)) {
        uint64_t name, content;

        memcpy(&note, bytes, sizeof(note));
        name = padded(note.n_namesz);
        content = padded(note.n_descsz);
        if (name > size - sizeof(note) || content > size - sizeof(note) - name)
            return;
        if (note.n_type == TYPE && note.n_namesz == sizeof(OWNER) &&
            memcmp(bytes + sizeof(note), OWNER, sizeof(OWNER)) == 0 &&
            note.n_descsz >= 2u * image->class->word)
            add(probes, image, bytes + sizeof(note) + name);
        bytes += sizeof(note) + name + content;
        size -= sizeof(note) + name + content;
    }
}

static int by_address(const void *left, const void *right)
{
    const struct elf_probe *a = left, *b = right;

    return a->address < b->address ? -1 : a->address > b->address;
}

void elf_probes_read(struct elf_probes *probes, const struct elf_image *image)
{
    const Elf64_Shdr *section = elf_section(image, ".note.stapsdt");

    *probes = (struct elf_probes){0};
    if (!section || section->sh_type != SHT_NOTE || section->sh_offset > image->size ||
        section->sh_size > image->size - section->sh_offset)
        return;
    read_notes(probes, image, image->bytes + section->sh_offset, section->sh_size);
    if (probes->count)
        qsort(probes->items, probes->count, sizeof(*probes->items), by_address);
}

void elf_probes_note(const struct elf_probes *probes, struct code_map *map)
{
    for (size_t i = 0; i < probes->count; i++)
        address_set_add(&map->jumps, probes->items[i].address);
}

void elf_probes_free(struct elf_probes *probes)
{
    free(probes->items);
    *probes = (struct elf_probes){0};
}
