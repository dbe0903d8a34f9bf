/*
 * Unwind information for the stubs. A signal, a fault or a debugger may find a thread in a
 * displaced prologue, half way through setting up its frame. So the rows of the original frame
 * description that belong to displaced instructions are copied, instruction for instruction, to
 * where these went. Many stubs share one frame description, each beginning anew:
 *
 *      FDE      first stub ... end of the last of STUBS_PER_FRAME
 *               remember_state                      rsp + 8, or esp + 4, as at any entry
 *      stub:    ...
 *      body:    push rbp
 *               advance; def_cfa_offset 16; offset rbp    <- copied
 *               mov  rbp, rsp
 *               advance; def_cfa_register rbp             <- copied
 *               jmp  back
 *      stub:    advance; restore_state; remember_state
 *
 * A stub that pushes, as that of i386 does, has rows for that in front of its body.
 *
 * The index (.eh_frame_hdr) is written anew, as unwinders look into one table: first the frame
 * descriptions of the original, where they are, then those of the stubs, which lie higher, then
 * those of the copies (elf_copy_frames.h), then those of an agent that is embedded.
 */
#include "rewriter/elf/write/elf_unwind.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/copies/elf_copy_debug.h"
#include "rewriter/elf/copies/elf_copy_frames.h"
#include "rewriter/elf/unwind/cfi.h"
#include "rewriter/elf/unwind/dwarf_write.h"
#include "rewriter/elf/write/elf_memory_lock_stubs.h"
#include "rewriter/patch/stub_kind.h"
#include "support/memory.h"

#define STUBS_PER_FRAME  64
#define INDEX_ENTRY_SIZE 8

enum {
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_OFFSET = 0x80, /* and a register below it */
};

struct frame {
    const struct elf_class *class;
    const struct stub_kind *stubs;
    struct elf_new_segment *segment;
    struct buffer *to; /* its bytes */
    size_t cie;        /* offset of the CIE */
    size_t start;      /* of the FDE */
    uint64_t address;  /* up to which rows are written */
    bool is_dirty;     /* the last row is not that of an entry */
};

static void advance_to(struct frame *frame, uint64_t address)
{
    uint64_t distance = address - frame->address;

    frame->address = address;
    dwarf_put_advance(frame->to, distance);
}

/* Copies what holds from each displaced instruction on, as far as the one at `limit`. */
static void copy_rows(struct frame *frame, const struct cie *cie, const struct fde *fde,
                      const struct function *function, const struct stub_moves *moves,
                      uint64_t limit, uint64_t body)
{
    uint64_t at, advance, start = function->address + function->patch_offset;
    struct cfi_program rest = fde->program;
    size_t size;

    for (at = fde->address; (size = cfi_instruction(cie, rest, &advance)); at += advance) {
        if (at + advance > limit || rest.bytes[0] == CFA_RESTORE_STATE)
            return;
        if (advance == 0 && at > start && rest.bytes[0] != CFA_REMEMBER_STATE) {
            if (moves->to[at - start] == 0)
                return; /* in the middle of an instruction */
            advance_to(frame, body + moves->to[at - start]);
            buffer_append(frame->to, rest.bytes, size);
            frame->is_dirty = true;
        }
        rest.bytes += size;
        rest.size -= size;
    }
}

static void put_cfa_offset(struct frame *frame, uint64_t address, uint64_t offset)
{
    advance_to(frame, address);
    dwarf_put8(frame->to, CFA_DEF_CFA_OFFSET);
    dwarf_put_uleb(frame->to, offset);
    frame->is_dirty = true;
}

/* What begins at `address`, where the CFA is the stack pointer plus `offset`. */
static void put_rows(struct frame *frame, const struct stub_row rows[STUB_ROWS], uint64_t address,
                     uint64_t offset)
{
    for (size_t i = 0; i < STUB_ROWS && rows[i].at; i++)
        put_cfa_offset(frame, address + rows[i].at, offset + rows[i].lower);
}

/* A displaced call moves the stack pointer before it leaves: see stub.h. */
static void call_rows(struct frame *frame, const struct eh_frame *source, const struct fde *fde,
                      uint64_t original, uint64_t call)
{
    struct cfi_cursor cursor;

    cfi_begin(&cursor, source, fde);
    cfi_seek(&cursor, original);
    if (cursor.row.cfa_register == frame->class->unwind.stack_pointer)
        put_rows(frame, frame->stubs->call_rows, call, (uint64_t)cursor.row.cfa_offset);
}

static void stub_rows(struct frame *frame, const struct eh_frame *source,
                      const struct function *function, const struct stub_moves *moves,
                      uint64_t body)
{
    const struct fde *fde = eh_frame_find(source, function->address);
    uint64_t start = function->address + function->patch_offset;
    uint64_t limit = start + (moves->has_call ? moves->call : function->displaced);
    const struct cie *cie;

    if (!fde)
        return;
    cie = &source->cies[fde->cie];
    if (cie->code_factor != 1 || cie->data_factor != -(int64_t)frame->class->word ||
        cie->return_register != frame->class->unwind.return_address)
        return;
    copy_rows(frame, cie, fde, function, moves, limit, body);
    if (moves->has_call)
        call_rows(frame, source, fde, limit, body + moves->to[moves->call]);
}

/* The frame is as at any entry, from an address on. */
static void frame_clean(struct frame *frame, uint64_t address)
{
    if (!frame->is_dirty)
        return;
    advance_to(frame, address);
    dwarf_put8(frame->to, CFA_RESTORE_STATE);
    dwarf_put8(frame->to, CFA_REMEMBER_STATE);
    frame->is_dirty = false;
}

/* What stands in for a system call (elf_memory_lock_stubs.h): as where it was. */
static void lock_rows(struct frame *frame, const struct elf_code *elf, uint64_t first)
{
    for (size_t i = 0; i < elf->locks.count; i++) {
        uint64_t stub = first + i * ELF_MEMORY_LOCK_STUB_SIZE;
        const struct fde *fde = eh_frame_find(&elf->frame, elf->locks.items[i]);
        struct cfi_cursor cursor;

        frame_clean(frame, stub);
        if (!fde)
            continue;
        cfi_begin(&cursor, &elf->frame, fde);
        cfi_seek(&cursor, elf->locks.items[i]);
        if (cursor.row.cfa_register == frame->class->unwind.stack_pointer)
            put_cfa_offset(frame, stub, (uint64_t)cursor.row.cfa_offset);
    }
}

static void frame_begin(struct frame *frame, uint64_t address)
{
    uint64_t here;

    frame->start = buffer_append_zeros(frame->to, 4);
    dwarf_put32(frame->to, frame->to->size - frame->cie);
    here = elf_new_segment_end(frame->segment);
    dwarf_put32(frame->to, address - here);
    dwarf_put32(frame->to, 0);
    dwarf_put8(frame->to, 0);
    dwarf_put8(frame->to, CFA_REMEMBER_STATE);
    frame->address = address;
    frame->is_dirty = false;
}

static void frame_end(struct frame *frame, uint64_t first, uint64_t end)
{
    uint32_t size, range = (uint32_t)(end - first);

    buffer_align(frame->to, 8, 0);
    size = (uint32_t)(frame->to->size - frame->start - 4);
    memcpy(frame->to->bytes + frame->start, &size, sizeof(size));
    memcpy(frame->to->bytes + frame->start + 12, &range, sizeof(range));
}

/* Writes the frame descriptions of all stubs; returns how many, with an index entry for each. */
static size_t frames_append(struct frame *frame, const struct elf_unwind_source *source,
                            struct elf_frame_entry *entries)
{
    const struct elf_code *elf = source->elf;
    uint64_t base = source->stubs->segment.address, first = 0;
    size_t frames = 0, stubs = 0;

    for (size_t i = 0; i < elf->functions.count; i++) {
        const struct function *function = &elf->functions.items[i];

        if (!patch_reason_is_hooked(function->reason))
            continue;
        if (stubs++ % STUBS_PER_FRAME == 0) {
            if (frames)
                frame_end(frame, first, base + function->stub);
            first = base + function->stub;
            frame_begin(frame, first);
            entries[frames++] =
                (struct elf_frame_entry){first, frame->segment->address + frame->start};
        } else {
            frame_clean(frame, base + function->stub);
        }
        put_rows(frame, frame->stubs->frame_rows, base + function->stub, frame->class->word);
        frame->is_dirty = false; /* the body begins as the stub does */
        stub_rows(frame, &elf->frame, function, &source->moves[i], base + function->body);
    }
    if (frames) {
        lock_rows(frame, elf, base + source->stubs->locks);
        frame_end(frame, first, base + source->stubs->copies_at);
    }
    return frames;
}

/* eh_frame: address of the first frame description, of the original if that has any. */
static void index_append(struct elf_unwind *unwind, struct elf_new_segment *segment,
                         const struct elf_unwind_source *source, uint64_t eh_frame,
                         const struct elf_frame_entry *added, size_t added_count)
{
    const struct eh_frame *original = &source->elf->frame;
    struct buffer *to = &segment->bytes;
    uint64_t here = segment->address + buffer_align(to, 8, 0);
    size_t agent_count = source->agent ? source->agent->fde_count : 0;

    dwarf_put8(to, 1); /* version */
    dwarf_put8(to, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
    dwarf_put8(to, DW_EH_PE_udata4);
    dwarf_put8(to, DW_EH_PE_datarel | DW_EH_PE_sdata4);
    dwarf_put32(to, eh_frame - (here + 4));
    dwarf_put32(to, original->fde_count + added_count + agent_count);
    for (size_t i = 0; i < original->fde_count; i++) {
        dwarf_put32(to, original->fdes[i].address - here);
        dwarf_put32(to, original->fdes[i].location - here);
    }
    for (size_t i = 0; i < added_count; i++) {
        dwarf_put32(to, added[i].address - here);
        dwarf_put32(to, added[i].location - here);
    }
    unwind->agent_index =
        (struct elf_span){elf_new_segment_end(segment), agent_count * INDEX_ENTRY_SIZE};
    buffer_append_zeros(to, unwind->agent_index.size);
    unwind->index = (struct elf_span){here, elf_new_segment_end(segment) - here};
}

static struct frame frame_of(const struct elf_class *class, struct elf_new_segment *segment)
{
    return (struct frame){
        .class = class,
        .stubs = stub_kind_of(class->processor),
        .segment = segment,
        .to = &segment->bytes,
        .cie = buffer_align(&segment->bytes, 8, 0),
    };
}

/* The CIE. zR: pointers are 32-bit distances. The CFA is a word above the stack pointer, and the
   return address lies a word below it. */
static void put_common(struct frame *frame)
{
    static const uint8_t head[] = {20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1};
    const struct elf_class *class = frame->class;

    buffer_append(frame->to, head, sizeof(head));
    dwarf_put8(frame->to, (uint8_t)(0x80 - class->word)); /* the data factor: negative */
    dwarf_put8(frame->to, (uint8_t) class->unwind.return_address);
    dwarf_put8(frame->to, 1); /* size of augmentation data */
    dwarf_put8(frame->to, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
    dwarf_put8(frame->to, CFA_DEF_CFA);
    dwarf_put_uleb(frame->to, class->unwind.stack_pointer);
    dwarf_put_uleb(frame->to, class->word);
    dwarf_put8(frame->to, (uint8_t)(CFA_OFFSET | class->unwind.return_address));
    dwarf_put_uleb(frame->to, 1);
    buffer_append_zeros(frame->to, 2); /* DW_CFA_nop */
}

/* .eh_frame of what is new, then the index of all. */
static void frames_build(struct elf_unwind *unwind, struct elf_new_segment *segment,
                         const struct elf_unwind_source *source, struct elf_copy_frames *copied)
{
    struct buffer *to = &segment->bytes;
    struct frame frame = frame_of(source->image->class, segment);
    uint64_t original = source->elf->frame.address;
    size_t count, stubs = source->elf->functions.count / STUBS_PER_FRAME + 1;
    struct elf_frame_entry *entries = memory_zeroed(stubs + copied->count, sizeof(*entries));

    put_common(&frame);
    count = frames_append(&frame, source, entries);
    elf_copy_frames_append(copied, to, segment->address, entries + count);
    dwarf_put32(to, 0); /* end */
    unwind->frames.size = elf_new_segment_end(segment) - unwind->frames.address;
    index_append(unwind, segment, source, original ? original : segment->address + frame.cie,
                 entries, count + copied->count);
    free(entries);
}

bool elf_unwind_build(struct elf_unwind *unwind, struct elf_new_segment *segment,
                      const struct elf_unwind_source *source, struct failure *failure)
{
    const struct elf_image *image = source->image;
    struct elf_copy_frames copied = {
        .elf = source->elf, .image = image, .copies = &source->stubs->copies};
    bool is_built;

    *unwind = (struct elf_unwind){.frames.address = segment->address};
    if (!source->agent &&
        (!elf_segment(image, PT_GNU_EH_FRAME) || source->elf->frame.fde_count == 0))
        return true;
    unwind->frames.address += buffer_align(&segment->bytes, 8, 0);
    is_built = elf_copy_frames_append_lsdas(&copied, &segment->bytes, segment->address);
    if (is_built) {
        frames_build(unwind, segment, source, &copied);
        elf_copy_debug_frames(&copied, &segment->bytes, &unwind->debug_frames);
    }
    elf_copy_frames_free(&copied);
    return is_built ||
           fail(failure, image->path,
                "expected unwind information that copies can have, found some that they cannot");
}

void elf_unwind_bind(const struct elf_unwind *unwind, struct elf_new_segment *segment,
                     const struct eh_frame *agent, uint64_t address)
{
    uint64_t here = unwind->index.address;
    uint8_t *to = segment->bytes.bytes + (unwind->agent_index.address - segment->address);

    for (size_t i = 0; i < agent->fde_count; i++) {
        const struct fde *fde = &agent->fdes[i];
        uint32_t entry[2] = {(uint32_t)(address + fde->address - here),
                             (uint32_t)(address + fde->location - here)};

        memcpy(to + i * INDEX_ENTRY_SIZE, entry, sizeof(entry));
    }
}
