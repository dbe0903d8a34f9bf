#include "rewriter/elf/copies/elf_copy_frames_can.h"

#include <stdlib.h>

#include "rewriter/code/decode_plain.h"
#include "rewriter/elf/copies/elf_copy_piece.h"
#include "rewriter/elf/unwind/dwarf_write.h"
#include "rewriter/elf/unwind/lsda.h"
#include "support/memory.h"

#define RETURN_ADDRESS 16 /* its column */
#define FRAME_POINTERS (DW_EH_PE_pcrel | DW_EH_PE_sdata4)
#define MOST_BEFORE    512          /* bytes of a FDE's rows in front of a function */
#define LOWEST_HALF    (1ull << 30) /* ends below: what is added fits into 31 bits as well */

enum {
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_VAL_EXPRESSION = 0x16,
};

enum {
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08, /* then 1S, 2U, 2S, 4U, 4S, 8U, 8S */
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12, /* up to OP_LIT31 most have no operand */
    OP_PICK = 0x15,
    OP_PLUS_UCONST = 0x23,
    OP_BRANCH = 0x28,
    OP_SKIP = 0x2f,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_DEREF_SIZE = 0x94,
};

/* Where the instructions of a function begin: a bit each, and one for its end. */
struct starts {
    const struct function *function;
    uint8_t *bits;
};

static bool starts_has(const struct starts *starts, uint64_t address)
{
    uint64_t at = address - starts->function->address;

    return address <= starts->function->end && starts->bits[at / 8] >> at % 8 & 1;
}

/* 0 if no instruction is there. */
static size_t length_at(const ZydisDecoder *decoder, const uint8_t *bytes, size_t room)
{
    size_t plain = room >= PLAIN_ROOM ? plain_length(bytes, 0) : 0;
    struct instruction at;

    if (plain)
        return plain;
    if (room >= PLAIN_ROOM && plain_decode(0, bytes, &at))
        return at.length;
    return instruction_decode(decoder, 0, bytes, room, &at) ? at.length : 0;
}

static bool starts_find(struct starts *starts, const struct code *code)
{
    const struct function *function = starts->function;
    uint64_t size = function->end - function->address, at;
    size_t room, length;
    ZydisDecoder decoder;
    const uint8_t *bytes = code_at(code, function->address, &room);

    if (!bytes || size > room)
        return false;
    decoder_init(&decoder, code->processor);
    starts->bits = memory_zeroed(size / 8 + 1, 1);
    for (at = 0; at < size; at += length) {
        starts->bits[at / 8] |= (uint8_t)(1u << at % 8);
        length = length_at(&decoder, bytes + at, size - at);
        if (!length)
            return false;
    }
    starts->bits[size / 8] |= (uint8_t)(1u << size % 8);
    return true;
}

static bool encoding_serves(uint8_t encoding, const struct elf_image *image)
{
    if (encoding == DW_EH_PE_omit)
        return true;
    if (encoding == (DW_EH_PE_pcrel | DW_EH_PE_udata4) || dwarf_pointer_size(encoding) == 0)
        return false;
    if (encoding & DW_EH_PE_pcrel)
        return true;
    return image->header.e_type == ET_EXEC && image->end <= LOWEST_HALF;
}

static bool cie_serves(const struct cie *cie, const struct elf_image *image)
{
    return cie->is_understood && !cie->is_signal_frame && cie->pointer_encoding == FRAME_POINTERS &&
           cie->code_factor == 1 && cie->return_register == RETURN_ADDRESS &&
           encoding_serves(cie->lsda_encoding, image);
}

/*
 * Whether an expression says elsewhere what it says where it is: it may read registers but for the
 * instruction pointer, and memory, and calculate. (The PLT's looks at the instruction pointer.)
 */
static bool expression_serves(struct dwarf_reader reader)
{
    while (reader.at < reader.end && !reader.is_short) {
        uint8_t code = (uint8_t)dwarf_fixed(&reader, 1);

        if (code == OP_PLUS_UCONST || code == OP_CONSTU || code == OP_CONSTS) {
            dwarf_uleb(&reader);
        } else if (code >= OP_CONST1U && code <= OP_CONST8S) {
            dwarf_skip(&reader, 1u << (code - OP_CONST1U) / 2);
        } else if (code >= OP_BREG0 && code < OP_BREG0 + RETURN_ADDRESS) {
            dwarf_sleb(&reader);
        } else if (code == OP_DEREF_SIZE) {
            dwarf_skip(&reader, 1);
        } else if (code != OP_DEREF && (code < OP_DUP || code > OP_LIT31 || code == OP_PICK ||
                                        code == OP_SKIP || code == OP_BRANCH)) {
            return false;
        }
    }
    return !reader.is_short;
}

/* Whether a CFI instruction, which cfi_instruction has read, says elsewhere what it says where it
   is. */
static bool instruction_serves(const uint8_t *bytes, size_t size)
{
    struct dwarf_reader reader = {bytes, bytes + size, false};
    uint8_t code = (uint8_t)dwarf_fixed(&reader, 1);

    if (code != CFA_DEF_CFA_EXPRESSION && code != CFA_EXPRESSION && code != CFA_VAL_EXPRESSION)
        return true;
    if (code != CFA_DEF_CFA_EXPRESSION)
        dwarf_uleb(&reader);
    dwarf_uleb(&reader);
    return expression_serves(reader);
}

/* Every row of a piece begins with an instruction. */
static bool rows_serve(const struct cie *cie, const struct elf_copy_piece *piece,
                       const struct starts *starts)
{
    struct cfi_program rest = piece->fde->program;
    uint64_t at = piece->fde->address, advance;
    size_t size;

    while ((size = cfi_instruction(cie, rest, &advance))) {
        if (!instruction_serves(rest.bytes, size))
            return false;
        rest.bytes += size;
        rest.size -= size;
        if (advance > piece->fde->size)
            return false;
        at += advance;
        if (at <= piece->start && piece->fde->program.size - rest.size > MOST_BEFORE &&
            piece->start > piece->fde->address)
            return false;
        if (at >= piece->end)
            return true;
        if (at > piece->start && !starts_has(starts, at))
            return false;
    }
    return rest.size == 0;
}

/* Ranges begin and end with instructions; pads are instructions of this function or of another. */
static bool lsda_serves(const struct elf_code *elf, const struct elf_image *image,
                        const struct elf_copy_piece *piece, const struct starts *starts)
{
    struct lsda_site site;
    struct lsda lsda;

    if (piece->start != piece->fde->address || piece->start != starts->function->address ||
        !lsda_read(&lsda, image, &elf->frame, piece->fde))
        return false;
    while (lsda_next(&lsda, &site)) {
        const struct function *owner = function_list_owner(&elf->functions, site.pad);

        if (site.start < piece->end && (!starts_has(starts, site.start) ||
                                        (site.end < piece->end && !starts_has(starts, site.end))))
            return false;
        if (site.pad && (!owner || site.pad >= owner->end ||
                         (owner == starts->function && !starts_has(starts, site.pad))))
            return false;
    }
    return true;
}

static bool piece_serves(const struct elf_code *elf, const struct elf_image *image,
                         const struct elf_copy_piece *piece, const struct starts *starts)
{
    const struct cie *cie = &elf->frame.cies[piece->fde->cie];
    struct cfi_cursor cursor;

    cfi_begin(&cursor, &elf->frame, piece->fde);
    return !cursor.is_malformed && cie_serves(cie, image) && starts_has(starts, piece->start) &&
           (starts_has(starts, piece->end) || piece->end == starts->function->end) &&
           rows_serve(cie, piece, starts) &&
           (!piece->fde->lsda || lsda_serves(elf, image, piece, starts));
}

/* So that no code is looked at again and again. */
static bool is_apart(const struct function_list *functions, const struct function *function)
{
    const struct function *next = function + 1, *end = functions->items + functions->count;

    if (function->reason == PATCH_INSIDE_FUNCTION)
        return false;
    while (next < end && next->reason == PATCH_INSIDE_FUNCTION)
        next++;
    return next == end || function->end <= next->address;
}

bool elf_copy_frames_can(const struct elf_code *elf, const struct elf_image *image,
                         const struct function *function)
{
    struct starts starts = {.function = function};
    uint64_t at = function->address;
    struct elf_copy_piece piece;
    bool is_good;

    if (!is_apart(&elf->functions, function))
        return false;
    if (!elf_copy_piece_from(&elf->frame, function, at, &piece))
        return !elf->frame.is_incomplete;
    if (!elf_segment(image, PT_GNU_EH_FRAME) && !elf_image_is_static(image))
        return false; /* what is looked up without an index does not find more */
    is_good = starts_find(&starts, &elf->code);
    for (; is_good && elf_copy_piece_from(&elf->frame, function, at, &piece); at = piece.end)
        is_good = piece_serves(elf, image, &piece, &starts);
    free(starts.bits);
    return is_good;
}
