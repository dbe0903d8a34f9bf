/* The dynamic section of an instrumented image. */
#include "rewriter/elf/write/elf_dynamic.h"

static void put(struct elf_layout *layout, int64_t tag, uint64_t value)
{
    Elf64_Dyn entry = {.d_tag = tag, .d_un.d_val = value};

    buffer_append(&layout->data, &entry, sizeof(entry));
    layout->dynamic.size += sizeof(entry);
}

static uint64_t moved(const struct elf_layout *layout, const struct elf_place *place, uint64_t old)
{
    return place->size ? place->address : elf_room_moved(&layout->room, old);
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
    case DT_GNU_HASH:
        return moved(layout, &layout->gnu_hash, old);
    case DT_VERDEF:
    case DT_VERNEED:
    case DT_JMPREL:
        return elf_room_moved(&layout->room, old);
    default:
        return old;
    }
}

/*
 * The agent is the first library that a program needs, so its mlockall is found before the C
 * library's. What a library needs is searched after all that its program needs, the C library
 * included. So a library also names the agent as its auxiliary filter: that is searched right
 * before the library.
 */
static void put_agent(struct elf_layout *layout)
{
    put(layout, DT_NEEDED, layout->agent_name);
    if (!elf_segment(layout->image, PT_INTERP) || elf_dynamic(layout->image, DT_SONAME))
        put(layout, DT_AUXILIARY, layout->agent_name);
}

void elf_dynamic_build(struct elf_layout *layout)
{
    const struct elf_image *image = layout->image;

    put_agent(layout);
    for (size_t i = 0; i < image->dynamic_count; i++)
        put(layout, image->dynamic[i].d_tag, dynamic_value(layout, &image->dynamic[i]));
    if (!elf_dynamic(image, DT_RELA))
        put(layout, DT_RELA, layout->relocations.address);
    if (!elf_dynamic(image, DT_RELASZ))
        put(layout, DT_RELASZ, layout->relocations.size);
    if (!elf_dynamic(image, DT_RELAENT))
        put(layout, DT_RELAENT, sizeof(Elf64_Rela));
    put(layout, DT_NULL, 0);
    put(layout, DT_NULL, 0);
}
