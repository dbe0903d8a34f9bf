#include "rewriter/elf/unwind/eh_frame.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/unwind/dwarf_data.h"
#include "support/memory.h"
#include "support/sorted.h"

#define CIE_LIMIT 4096 /* bytes; each FDE begins by running its CIE's program */

/* .eh_frame as it lies in the image. */
struct extent {
    const uint8_t *bytes;
    uint64_t address, size;
    size_t word;   /* bytes of an address in the image */
    bool is_exact; /* the section's size; else as much as the segment holds */
    bool is_fixed; /* the image is linked to a fixed address: pointers are what they say */
};

static struct extent extent_find(const struct elf_image *image)
{
    const Elf64_Phdr *segment = elf_segment(image, PT_GNU_EH_FRAME);
    const Elf64_Shdr *section = elf_section(image, ".eh_frame");
    struct extent extent = {.word = image->class->word,
                            .is_fixed = image->header.e_type == ET_EXEC};

    if (section && section->sh_type != SHT_NOBITS &&
        (extent.bytes = elf_at(image, section->sh_addr, section->sh_size))) {
        extent.address = section->sh_addr;
        extent.size = section->sh_size;
        extent.is_exact = true;
        return extent;
    }
    if (segment) {
        const uint8_t *header = elf_at(image, segment->p_vaddr, segment->p_filesz);
        struct dwarf_reader reader = {header, header ? header + segment->p_filesz : NULL, !header};
        uint8_t version = (uint8_t)dwarf_fixed(&reader, 1);
        uint8_t encoding = dwarf_encoding((uint8_t)dwarf_fixed(&reader, 1), extent.word);

        dwarf_skip(&reader, 2);
        extent.address = dwarf_pointer(&reader, encoding, segment->p_vaddr + 4);
        extent.size = elf_available(image, extent.address);
        if (version == 1 && !reader.is_short)
            extent.bytes = elf_at(image, extent.address, extent.size);
    }
    return extent;
}

static bool augmentation_read(struct cie *cie, size_t word, const char *augmentation,
                              struct dwarf_reader *reader)
{
    struct dwarf_reader data;
    uint64_t size;

    if (*augmentation == 0)
        return true;
    if (*augmentation++ != 'z')
        return false;
    size = dwarf_uleb(reader);
    data.at = dwarf_skip(reader, size);
    if (!data.at)
        return false;
    data.end = data.at + size;
    data.is_short = false;
    cie->has_augmentation_data = true;
    for (; *augmentation; augmentation++) {
        switch (*augmentation) {
        case 'R':
            cie->pointer_encoding = dwarf_encoding((uint8_t)dwarf_fixed(&data, 1), word);
            break;
        case 'P': /* its value is not needed: encode as if absolute */
            dwarf_pointer(&data, dwarf_encoding(dwarf_fixed(&data, 1) & 0x0f, word), 0);
            break;
        case 'L':
            cie->lsda_encoding = dwarf_encoding((uint8_t)dwarf_fixed(&data, 1), word);
            break;
        case 'S':
            cie->is_signal_frame = true;
            break;
        default:
            cie->is_understood = false;
            return !data.is_short;
        }
    }
    return !data.is_short;
}

static bool cie_read(struct cie *cie, const struct extent *extent, uint64_t offset)
{
    struct dwarf_reader reader = {extent->bytes + offset, extent->bytes + extent->size, false};
    uint64_t size = dwarf_fixed(&reader, 4);
    const uint8_t *augmentation;
    uint8_t version;

    if (size == UINT32_MAX)
        size = dwarf_fixed(&reader, 8);
    if (reader.is_short || size > (uint64_t)(reader.end - reader.at) || size > CIE_LIMIT)
        return false;
    reader.end = reader.at + size;
    *cie = (struct cie){.offset = offset,
                        .pointer_encoding = dwarf_encoding(DW_EH_PE_absptr, extent->word),
                        .lsda_encoding = DW_EH_PE_omit,
                        .is_understood = true};
    if (dwarf_fixed(&reader, 4) != 0)
        return false;
    version = (uint8_t)dwarf_fixed(&reader, 1);
    augmentation = reader.at;
    while (dwarf_fixed(&reader, 1))
        ;
    if (reader.is_short || (version != 1 && version != 3))
        return false;
    cie->code_factor = dwarf_uleb(&reader);
    cie->data_factor = dwarf_sleb(&reader);
    cie->return_register = version == 1 ? dwarf_fixed(&reader, 1) : dwarf_uleb(&reader);
    if (reader.is_short ||
        !augmentation_read(cie, extent->word, (const char *)augmentation, &reader))
        return false;
    cie->program = (struct cfi_program){reader.at, (size_t)(reader.end - reader.at)};
    return true;
}

/* Index of the CIE at that offset, read if it is new; UINT32_MAX if it cannot be understood. */
static uint32_t cie_find(struct eh_frame *frame, const struct extent *extent, uint64_t offset)
{
    struct cie cie;

    for (size_t i = frame->cie_count; i-- > 0 && i + 16 >= frame->cie_count;)
        if (frame->cies[i].offset == offset)
            return (uint32_t)i;
    if (!cie_read(&cie, extent, offset))
        return UINT32_MAX;
    frame->cies = memory_grow(frame->cies, frame->cie_count, &frame->cie_room, sizeof(cie));
    frame->cies[frame->cie_count] = cie;
    return (uint32_t)frame->cie_count++;
}

/* The augmentation data of a FDE. False if it is not all there. */
static bool fde_data_read(struct fde *fde, const struct extent *extent, struct cie *cie,
                          struct dwarf_reader *reader)
{
    uint8_t encoding = cie->lsda_encoding;
    struct dwarf_reader data = *reader;
    uint64_t here;

    if (!cie->has_augmentation_data)
        return true;
    data.at = dwarf_skip(reader, dwarf_uleb(reader));
    data.end = reader->at;
    if (!data.at)
        return false;
    if (encoding == DW_EH_PE_omit)
        return true;
    if ((encoding & 0xf0) != DW_EH_PE_pcrel && (encoding & 0xf0 || !extent->is_fixed)) {
        cie->is_understood = false;
        return true;
    }
    here = extent->address + (uint64_t)(data.at - extent->bytes);
    fde->lsda = dwarf_pointer(&data, encoding & 0x0f, 0);
    if (fde->lsda && encoding & DW_EH_PE_pcrel)
        fde->lsda += here;
    cie->is_understood &= !data.is_short;
    return true;
}

/* `reader` stands behind the CIE pointer and ends with the FDE. */
static void fde_read(struct eh_frame *frame, const struct extent *extent, uint32_t index,
                     uint64_t location, struct dwarf_reader reader)
{
    struct cie *cie = &frame->cies[index];
    uint64_t here = extent->address + (uint64_t)(reader.at - extent->bytes);
    struct fde fde = {.location = location, .cie = index};

    fde.address = dwarf_pointer(&reader, cie->pointer_encoding, here);
    fde.size = dwarf_pointer(&reader, cie->pointer_encoding & 0x0f, 0);
    if (!fde_data_read(&fde, extent, cie, &reader) || reader.is_short || fde.size > UINT32_MAX) {
        frame->is_incomplete = true;
        return;
    }
    if (fde.size == 0)
        return;
    fde.program = (struct cfi_program){reader.at, (size_t)(reader.end - reader.at)};
    frame->fdes = memory_grow(frame->fdes, frame->fde_count, &frame->fde_room, sizeof(fde));
    frame->fdes[frame->fde_count++] = fde;
}

static int by_address(const void *left, const void *right)
{
    const struct fde *a = left, *b = right;

    return a->address < b->address ? -1 : a->address > b->address;
}

static void entries_read(struct eh_frame *frame, const struct extent *extent)
{
    struct dwarf_reader reader = {extent->bytes, extent->bytes + extent->size, false};

    while (reader.end - reader.at >= 4) {
        struct dwarf_reader entry;
        uint64_t start = (uint64_t)(reader.at - extent->bytes), here;
        uint64_t size = dwarf_fixed(&reader, 4);
        uint32_t distance, cie;

        if (size == UINT32_MAX)
            size = dwarf_fixed(&reader, 8);
        if (size == 0 && !extent->is_exact)
            return;
        if (size == 0)
            continue;
        entry.at = dwarf_skip(&reader, size);
        if (!entry.at)
            return;
        entry.end = reader.at;
        entry.is_short = false;
        here = (uint64_t)(entry.at - extent->bytes);
        distance = (uint32_t)dwarf_fixed(&entry, 4);
        if (entry.is_short || distance == 0)
            continue;
        if (distance > here) {
            frame->is_incomplete = true;
            continue;
        }
        cie = cie_find(frame, extent, here - distance);
        if (cie != UINT32_MAX)
            fde_read(frame, extent, cie, extent->address + start, entry);
        else
            frame->is_incomplete = true;
    }
}

static int by_number(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static void lsdas_note(struct eh_frame *frame)
{
    frame->lsdas = memory_zeroed(frame->fde_count, sizeof(*frame->lsdas));
    for (size_t i = 0; i < frame->fde_count; i++)
        if (frame->fdes[i].lsda)
            frame->lsdas[frame->lsda_count++] = frame->fdes[i].lsda;
    qsort(frame->lsdas, frame->lsda_count, sizeof(*frame->lsdas), by_number);
}

void eh_frame_read(struct eh_frame *frame, const struct elf_image *image)
{
    struct extent extent = extent_find(image);

    *frame = (struct eh_frame){0};
    if (!extent.bytes)
        return;
    frame->address = extent.address;
    entries_read(frame, &extent);
    if (frame->fde_count == 0)
        return;
    qsort(frame->fdes, frame->fde_count, sizeof(*frame->fdes), by_address);
    lsdas_note(frame);
}

void eh_frame_free(struct eh_frame *frame)
{
    free(frame->cies);
    free(frame->fdes);
    free(frame->lsdas);
    *frame = (struct eh_frame){0};
}

const struct fde *eh_frame_find(const struct eh_frame *frame, uint64_t address)
{
    size_t behind = partition_point(i, frame->fde_count, frame->fdes[i].address <= address);
    const struct fde *fde = behind ? &frame->fdes[behind - 1] : NULL;

    return fde && address - fde->address < fde->size ? fde : NULL;
}
