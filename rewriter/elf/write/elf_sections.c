/* Section headers of an instrumented image: for readelf, gdb and their like, not for running it. */
#include "rewriter/elf/write/elf_sections.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/copies/elf_copy_symbols.h"
#include "trace/image_manifest.h"

static void move_to(const struct elf_layout *layout, Elf64_Shdr *section,
                    const struct elf_span *place)
{
    if (!place->size)
        return;
    section->sh_addr = place->address;
    section->sh_offset = elf_layout_offset(layout, place->address);
    section->sh_size = place->size;
}

/* A grown table's section covers all of it; what a copied one covered has none any more. */
static void section_follow(const struct elf_layout *layout, Elf64_Shdr *section)
{
    const struct elf_image *image = layout->image;
    const struct elf_grown *grown = &layout->grown;
    uint64_t address = section->sh_addr, moved = elf_moved(&grown->moves, address);

    if (!address || !(section->sh_flags & SHF_ALLOC))
        return;
    if (section->sh_type == SHT_DYNSYM)
        move_to(layout, section, &grown->symbols);
    else if (section->sh_type == SHT_GNU_versym)
        move_to(layout, section, &grown->versions);
    else if (section->sh_type == SHT_STRTAB && address == elf_dynamic_value(image, DT_STRTAB, 0))
        move_to(layout, section, &grown->strings);
    else if (section->sh_type == image->class->relocations.section &&
             address == elf_dynamic_value(image, image->class->relocations.table, 0))
        move_to(layout, section, &grown->relocations);
    else if (section->sh_type == SHT_HASH && grown->hash.size)
        move_to(layout, section, &grown->hash);
    else if (section->sh_type == SHT_GNU_HASH && grown->gnu_hash.size)
        move_to(layout, section, &grown->gnu_hash);
    else if (strcmp(elf_section_name(image, section), ".eh_frame_hdr") == 0 &&
             layout->unwind.index.size)
        move_to(layout, section, &layout->unwind.index);
    else if (section->sh_type == SHT_DYNAMIC && layout->data.dynamic.size)
        move_to(layout, section, &layout->data.dynamic);
    else if (moved != address) {
        section->sh_addr = moved;
        section->sh_offset = elf_layout_offset(layout, moved);
    }
}

struct added_section {
    const char *name;
    uint64_t address, size, flags;
    uint32_t type;
};

static void section_add(const struct elf_layout *layout, struct buffer *headers,
                        struct buffer *names, const struct added_section *added)
{
    Elf64_Shdr section = {
        .sh_name = (uint32_t)buffer_append_string(names, added->name),
        .sh_type = added->type,
        .sh_flags = added->flags,
        .sh_addr = added->address,
        .sh_offset = added->address - layout->delta,
        .sh_size = added->size,
        .sh_addralign = 8,
    };

    buffer_append(headers, &section, sizeof(section));
}

/* The embedded agent's, and what precedes the image header. */
static void add_agent(const struct elf_layout *layout, struct buffer *headers, struct buffer *names)
{
    static const char *const loads[] = {".umbra.rodata", ".umbra.text", ".umbra.data"};
    const struct elf_embedding *embedding = layout->embedding;
    const struct elf_data *data = &layout->data;
    struct added_section added = {".umbra.tls", data->segment.address,
                                  data->header - data->segment.address, SHF_ALLOC | SHF_WRITE,
                                  SHT_PROGBITS};

    section_add(layout, headers, names, &added);
    for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
        const Elf64_Phdr *load = &embedding->loads[i];

        added = (struct added_section){loads[i], load->p_vaddr, load->p_filesz, SHF_ALLOC,
                                       SHT_PROGBITS};
        added.flags |= load->p_flags & PF_W ? SHF_WRITE : 0;
        added.flags |= load->p_flags & PF_X ? SHF_EXECINSTR : 0;
        section_add(layout, headers, names, &added);
    }
}

/* gdb takes the last section of that name: if the original has one, that is it. */
static void frames_append(const struct elf_layout *layout, struct buffer *tail,
                          uint64_t tail_offset, struct buffer *headers, struct buffer *names)
{
    bool has_one = elf_section(layout->image, ".debug_frame");
    Elf64_Shdr section = {
        .sh_name =
            (uint32_t)buffer_append_string(names, has_one ? ".umbra.debug_frame" : ".debug_frame"),
        .sh_type = SHT_PROGBITS,
        .sh_offset = tail_offset + buffer_align(tail, 8, 0),
        .sh_size = layout->unwind.debug_frames.size,
        .sh_addralign = 8,
    };

    buffer_append(tail, layout->unwind.debug_frames.bytes, layout->unwind.debug_frames.size);
    buffer_append(headers, &section, sizeof(section));
}

/* In the file's form; returns how many there are. */
static size_t headers_append(const struct elf_class *class, struct buffer *tail,
                             const struct buffer *headers)
{
    size_t count = headers->size / sizeof(Elf64_Shdr), size = elf_record_size(class, ELF_SECTION);
    size_t at = buffer_append_zeros(tail, count * size);

    for (size_t i = 0; i < count; i++)
        elf_record_write(class, ELF_SECTION, headers->bytes + i * sizeof(Elf64_Shdr),
                         tail->bytes + at + i * size);
    return count;
}

void elf_sections_build(const struct elf_layout *layout, const struct function_list *functions,
                        struct buffer *tail, uint64_t tail_offset, Elf64_Ehdr *header)
{
    const struct elf_image *image = layout->image;
    const struct elf_stubs *stubs = &layout->stubs;
    struct added_section added[ELF_NEW_SECTIONS] = {
        {".umbra.frames", layout->unwind.frames.address, layout->unwind.frames.size, SHF_ALLOC,
         SHT_PROGBITS},
        {".umbra.manifest", layout->manifest.address, layout->manifest.size, SHF_ALLOC,
         SHT_PROGBITS},
        [ELF_STUBS_SECTION] = {".umbra.stubs", stubs->segment.address, stubs->segment.code.size,
                               SHF_ALLOC | SHF_EXECINSTR, SHT_PROGBITS},
        {".umbra.header", layout->data.header, sizeof(struct image_header), SHF_ALLOC | SHF_WRITE,
         SHT_PROGBITS},
        {".umbra.hook", layout->data.hook_page, layout->data.end - layout->data.hook_page,
         SHF_ALLOC | SHF_WRITE, SHT_NOBITS},
    };
    struct buffer headers = {0}, names = {0};
    size_t strings_at;

    if (!image->section_count || !image->section_names) {
        header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
        return;
    }
    buffer_append(&names, image->section_names, image->section_names_size);
    for (size_t i = 0; i < image->section_count; i++) {
        Elf64_Shdr section = image->sections[i];

        section_follow(layout, &section);
        buffer_append(&headers, &section, sizeof(section));
    }
    for (size_t i = 0; i < sizeof(added) / sizeof(*added); i++)
        section_add(layout, &headers, &names, &added[i]);
    if (layout->embedding)
        add_agent(layout, &headers, &names);
    if (stubs->copies.count)
        elf_copy_symbols_add(image, &stubs->copies, functions,
                             image->section_count + ELF_STUBS_SECTION, tail, tail_offset, &headers);
    if (stubs->has_copies)
        frames_append(layout, tail, tail_offset, &headers, &names);
    strings_at = header->e_shstrndx * sizeof(Elf64_Shdr);
    ((Elf64_Shdr *)(void *)(headers.bytes + strings_at))->sh_offset = tail_offset + tail->size;
    ((Elf64_Shdr *)(void *)(headers.bytes + strings_at))->sh_size = names.size;
    buffer_append(tail, names.bytes, names.size);
    buffer_align(tail, 8, 0);
    header->e_shoff = tail_offset + tail->size;
    header->e_shnum = (Elf64_Half)headers_append(image->class, tail, &headers);
    free(headers.bytes);
    free(names.bytes);
}
