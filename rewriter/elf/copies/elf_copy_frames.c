#include "rewriter/elf/copies/elf_copy_frames.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/unwind/dwarf_write.h"
#include "rewriter/elf/unwind/lsda.h"
#include "support/memory.h"

#define FRAME_POINTERS (DW_EH_PE_pcrel | DW_EH_PE_sdata4)
#define LONGEST_ULEB   10 /* bytes, of a number of 64 bits */
#define CFA_NOP        0x00

static uint64_t lower(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

static const struct function *function_of(const struct elf_copy_frames *frames,
                                          const struct copy *copy)
{
    return &frames->elf->functions.items[copy->function];
}

/* Where an address of the original, at which an instruction begins, is in its copy. */
static uint64_t moved(const struct elf_copy_frames *frames, const struct copy *copy,
                      uint64_t address)
{
    uint64_t from = address - function_of(frames, copy)->address;

    return copy->address + copy_set_moved(frames->copies, copy, (uint32_t)from);
}

/* A landing pad that was not copied is used where it is: it finds the frame as it expects it. */
static uint64_t moved_pad(const struct elf_copy_frames *frames, uint64_t pad)
{
    const struct function_list *functions = &frames->elf->functions;
    const struct function *owner = function_list_owner(functions, pad);
    const struct copy *copy;

    if (!owner || pad >= owner->end)
        return pad;
    copy = copy_set_of(frames->copies, (uint32_t)(owner - functions->items));
    return copy ? moved(frames, copy, pad) : pad;
}

/* What landing pads are counted from: the first byte that the FDE covers, as when nothing is said,
   unless one lies there or below. */
static uint64_t pad_origin(const struct elf_copy_frames *frames, struct lsda lsda, uint64_t first)
{
    uint64_t lowest = UINT64_MAX;
    struct lsda_site site;

    while (lsda_next(&lsda, &site))
        if (site.pad)
            lowest = lower(moved_pad(frames, site.pad), lowest);
    return lowest > first ? first : lowest - 1;
}

static void sites_append(struct buffer *to, const struct elf_copy_frames *frames,
                         const struct elf_copy_frame *frame, struct lsda lsda, uint64_t origin)
{
    struct lsda_site site;

    while (lsda_next(&lsda, &site) && site.start < frame->piece.end) {
        uint64_t start = moved(frames, frame->copy, site.start);
        uint64_t end = moved(frames, frame->copy, lower(site.end, frame->piece.end));

        if (start == end)
            continue;
        dwarf_put_uleb(to, start - frame->address);
        dwarf_put_uleb(to, end - start);
        dwarf_put_uleb(to, site.pad ? moved_pad(frames, site.pad) - origin : 0);
        dwarf_put_uleb(to, site.action);
    }
}

/* Ten bytes, whatever the number. */
static void put_long_uleb(struct buffer *to, uint64_t value)
{
    for (unsigned i = 1; i < LONGEST_ULEB; i++, value >>= 7)
        dwarf_put8(to, (uint8_t)(value | 0x80));
    dwarf_put8(to, (uint8_t)value);
}

static bool lsda_append(struct elf_copy_frame *frame, const struct elf_copy_frames *frames,
                        struct buffer *to, uint64_t address)
{
    struct buffer sites = {0};
    struct lsda lsda;
    uint64_t origin;

    if (!lsda_read(&lsda, frames->image, &frames->elf->frame, frame->piece.fde))
        return false;
    frame->lsda = address + to->size;
    origin = pad_origin(frames, lsda, frame->address);
    if (origin == frame->address) {
        dwarf_put8(to, DW_EH_PE_omit);
    } else {
        dwarf_put8(to, FRAME_POINTERS);
        dwarf_put_pointer(to, FRAME_POINTERS, origin, address + to->size);
    }
    dwarf_put8(to, lsda.type_encoding);
    if (lsda.type_encoding != DW_EH_PE_omit)
        put_long_uleb(to, lsda.types - (address + to->size + LONGEST_ULEB));
    sites_append(&sites, frames, frame, lsda, origin);
    dwarf_put8(to, DW_EH_PE_uleb128);
    dwarf_put_uleb(to, sites.size);
    buffer_append(to, sites.bytes, sites.size);
    buffer_append(to, lsda.actions.bytes, lsda.actions.size);
    free(sites.bytes);
    return true;
}

static bool copy_append(struct elf_copy_frames *frames, const struct copy *copy, struct buffer *to,
                        uint64_t address)
{
    const struct function *function = function_of(frames, copy);
    const struct eh_frame *original = &frames->elf->frame;
    struct elf_copy_piece piece = {.end = function->address};

    while (elf_copy_piece_from(original, function, piece.end, &piece)) {
        struct elf_copy_frame frame = {
            .piece = piece,
            .copy = copy,
            .address = moved(frames, copy, piece.start),
            .end = moved(frames, copy, piece.end),
        };

        if (frame.address == frame.end)
            continue;
        if (piece.fde->lsda && !lsda_append(&frame, frames, to, address))
            return false;
        frames->items = memory_grow(frames->items, frames->count, &frames->room, sizeof(frame));
        frames->items[frames->count++] = frame;
    }
    return true;
}

bool elf_copy_frames_append_lsdas(struct elf_copy_frames *frames, struct buffer *to,
                                  uint64_t address)
{
    const struct copy_set *copies = frames->copies;

    for (size_t i = 0; i < copies->count; i++)
        if (!copy_append(frames, &copies->items[i], to, address))
            return false;
    for (size_t i = 0; i < copies->slow_count; i++)
        if (!copy_append(frames, &copies->slow[i], to, address))
            return false;
    return true;
}

/* The instructions of the original from its first on, so that the state is what it was; what lies
   in front of the piece advances nothing. */
static void rows_append(const struct elf_copy_frames *frames, const struct elf_copy_frame *frame,
                        struct buffer *to)
{
    const struct fde *fde = frame->piece.fde;
    const struct cie *cie = &frames->elf->frame.cies[fde->cie];
    struct cfi_program rest = fde->program;
    uint64_t at = fde->address, advance, here = frame->address;
    size_t size;

    while ((size = cfi_instruction(cie, rest, &advance)) && at + advance < frame->piece.end) {
        at += advance;
        if (advance == 0 && rest.bytes[0] != CFA_NOP) {
            uint64_t place = at > frame->piece.start ? moved(frames, frame->copy, at) : here;

            dwarf_put_advance(to, place - here);
            buffer_append(to, rest.bytes, size);
            here = place;
        }
        rest.bytes += size;
        rest.size -= size;
    }
}

static void augmentation_append(struct buffer *to, const struct cie *cie,
                                const struct elf_copy_frame *frame, uint64_t address)
{
    size_t size = cie->lsda_encoding == DW_EH_PE_omit ? 0 : dwarf_pointer_size(cie->lsda_encoding);

    if (!cie->has_augmentation_data)
        return;
    dwarf_put8(to, (uint8_t)size);
    if (frame->lsda)
        dwarf_put_pointer(to, cie->lsda_encoding, frame->lsda, address + to->size);
    else
        buffer_append_zeros(to, size);
}

static void frame_append(struct buffer *to, const struct elf_copy_frames *frames,
                         struct elf_copy_frame *frame, uint64_t address)
{
    const struct eh_frame *original = &frames->elf->frame;
    const struct cie *cie = &original->cies[frame->piece.fde->cie];
    size_t at = buffer_append_zeros(to, 4);
    uint32_t size;

    dwarf_put32(to, address + to->size - (original->address + cie->offset));
    dwarf_put_pointer(to, FRAME_POINTERS, frame->address, address + to->size);
    dwarf_put32(to, frame->end - frame->address);
    augmentation_append(to, cie, frame, address);
    frame->rows = to->size;
    rows_append(frames, frame, to);
    frame->rows_size = to->size - frame->rows;
    buffer_align(to, 8, CFA_NOP);
    size = (uint32_t)(to->size - at - 4);
    memcpy(to->bytes + at, &size, sizeof(size));
}

void elf_copy_frames_append(struct elf_copy_frames *frames, struct buffer *to, uint64_t address,
                            struct elf_frame_entry *entries)
{
    for (size_t i = 0; i < frames->count; i++) {
        struct elf_copy_frame *frame = &frames->items[i];

        entries[i] = (struct elf_frame_entry){frame->address, address + to->size};
        frame_append(to, frames, frame, address);
    }
}

void elf_copy_frames_free(struct elf_copy_frames *frames)
{
    free(frames->items);
    frames->items = NULL;
    frames->count = frames->room = 0;
}
