/* The dynamic section of an instrumented image. */
#include "rewriter/elf/write/elf_dynamic.h"

static void put(struct elf_new_segment *data, const struct elf_class *class, int64_t tag,
                uint64_t value)
{
    Elf64_Dyn entry = {.d_tag = tag, .d_un.d_val = value};
    size_t at = buffer_append_zeros(&data->bytes, elf_record_size(class, ELF_DYNAMIC));

    elf_record_write(class, ELF_DYNAMIC, &entry, data->bytes.bytes + at);
}

static uint64_t moved(const struct elf_grown *grown, const struct elf_span *place, uint64_t old)
{
    return place->size ? place->address : elf_moved(&grown->moves, old);
}

static uint64_t dynamic_value(const struct elf_grown *grown, const Elf64_Dyn *entry)
{
    const struct elf_class *class = grown->growth->image->class;
    uint64_t old = entry->d_un.d_val;

    if (entry->d_tag == class->relocations.table)
        return moved(grown, &grown->relocations, old);
    if (entry->d_tag == class->relocations.size)
        return grown->relocations.size;
    switch (entry->d_tag) {
    case DT_STRTAB:
        return moved(grown, &grown->strings, old);
    case DT_STRSZ:
        return grown->strings.size;
    case DT_SYMTAB:
        return moved(grown, &grown->symbols, old);
    case DT_VERSYM:
        return moved(grown, &grown->versions, old);
    case DT_HASH:
        return moved(grown, &grown->hash, old);
    case DT_GNU_HASH:
        return moved(grown, &grown->gnu_hash, old);
    case DT_VERDEF:
    case DT_VERNEED:
    case DT_JMPREL:
        return elf_moved(&grown->moves, old);
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
static void put_agent(struct elf_new_segment *data, const struct elf_grown *grown)
{
    const struct elf_image *image = grown->growth->image;

    put(data, image->class, DT_NEEDED, grown->agent_name);
    if (!elf_segment(image, PT_INTERP) || elf_dynamic(image, DT_SONAME))
        put(data, image->class, DT_AUXILIARY, grown->agent_name);
}

struct elf_span elf_dynamic_build(struct elf_new_segment *data, const struct elf_grown *grown)
{
    const struct elf_image *image = grown->growth->image;
    const struct elf_class *class = image->class;
    uint64_t start = elf_new_segment_end(data);

    put_agent(data, grown);
    for (size_t i = 0; i < image->dynamic_count; i++)
        put(data, class, image->dynamic[i].d_tag, dynamic_value(grown, &image->dynamic[i]));
    if (!elf_dynamic(image, class->relocations.table))
        put(data, class, class->relocations.table, grown->relocations.address);
    if (!elf_dynamic(image, class->relocations.size))
        put(data, class, class->relocations.size, grown->relocations.size);
    if (!elf_dynamic(image, class->relocations.entry_size))
        put(data, class, class->relocations.entry_size, elf_record_size(class, ELF_RELOCATION));
    put(data, class, DT_NULL, 0);
    put(data, class, DT_NULL, 0);
    return (struct elf_span){start, elf_new_segment_end(data) - start};
}
