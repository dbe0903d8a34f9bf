#include "rewriter/elf/write/elf_segments.h"

#include "trace/image_manifest.h"

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

static void segment_move(const struct elf_layout *layout, Elf64_Phdr *segment, struct elf_span to)
{
    segment->p_offset = elf_layout_offset(layout, to.address);
    segment->p_vaddr = segment->p_paddr = to.address;
    segment->p_filesz = segment->p_memsz = to.size;
}

/* Segments that describe what was moved. */
static Elf64_Phdr segment_follow(const struct elf_layout *layout, Elf64_Phdr header)
{
    uint64_t moved = elf_moved(&layout->grown.moves, header.p_vaddr);

    if (header.p_type == PT_PHDR)
        segment_move(layout, &header, layout->grown.headers);
    else if (header.p_type != PT_LOAD && moved != header.p_vaddr)
        segment_move(layout, &header, (struct elf_span){moved, header.p_filesz});
    if (header.p_type == PT_DYNAMIC && layout->data.dynamic.size)
        segment_move(layout, &header, layout->data.dynamic);
    if (header.p_type == PT_GNU_EH_FRAME && layout->unwind.index.size)
        segment_move(layout, &header, layout->unwind.index);
    if (header.p_type == PT_TLS && layout->embedding)
        elf_embedding_tls(layout->embedding, layout->delta, &header);
    return header;
}

static uint8_t *put_headers(const struct elf_class *class, uint8_t *to, const Elf64_Phdr *headers,
                            size_t count)
{
    for (size_t i = 0; i < count; i++, to += elf_record_size(class, ELF_SEGMENT))
        elf_record_write(class, ELF_SEGMENT, &headers[i], to);
    return to;
}

/* What the image had none of. */
static uint8_t *put_missing(const struct elf_layout *layout, uint8_t *to)
{
    static const uint32_t types[] = {PT_TLS, PT_GNU_EH_FRAME};

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        Elf64_Phdr header = {.p_type = types[i], .p_flags = PF_R, .p_align = 8};

        if (elf_segment(layout->image, types[i]))
            continue;
        header = segment_follow(layout, header);
        to = put_headers(layout->image->class, to, &header, 1);
    }
    return to;
}

void elf_segments_build(const struct elf_layout *layout)
{
    const struct elf_image *image = layout->image;
    const struct stub_segment *stubs = &layout->stubs.segment;
    const struct elf_data *data = &layout->data;
    uint8_t *to = elf_grown_at(&layout->grown, layout->grown.headers.address);
    Elf64_Phdr added[ELF_NEW_SEGMENTS] = {
        segment(layout, stubs->address, stubs->code.size, PF_R | PF_X),
        segment(layout, layout->constant.address, layout->constant.bytes.size, PF_R),
        segment(layout, data->segment.address, data->segment.bytes.size, PF_R | PF_W),
    };
    size_t last = 0;

    added[ELF_NEW_SEGMENTS - 1].p_memsz = data->end - data->segment.address;
    for (size_t i = 0; i < image->segment_count; i++)
        if (image->segments[i].p_type == PT_LOAD)
            last = i;
    for (size_t i = 0; i < image->segment_count; i++) {
        Elf64_Phdr header = segment_follow(layout, image->segments[i]);

        to = put_headers(image->class, to, &header, 1);
        if (i != last)
            continue;
        to = put_headers(image->class, to, added, ELF_NEW_SEGMENTS);
        if (layout->embedding)
            to = put_headers(image->class, to, layout->embedding->loads, EMBEDDING_LOADS);
    }
    if (layout->embedding)
        put_missing(layout, to);
}
