/* Rows of call frame information: as much of them as concerns the CFA and the return address. */
#include "rewriter/elf/unwind/cfi.h"

#include "rewriter/elf/unwind/dwarf_data.h"

/* The upper two bits are an operation of their own, with an operand in the lower six. */
enum {
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

static void set_rule(struct cfi_cursor *cursor, uint64_t reg, enum cfi_return_rule rule,
                     int64_t offset)
{
    if (reg != cursor->cie->return_register)
        return;
    cursor->row.return_rule = (uint8_t)rule;
    cursor->row.return_offset = offset;
}

static void restore_rule(struct cfi_cursor *cursor, uint64_t reg)
{
    set_rule(cursor, reg, cursor->initial.return_rule, cursor->initial.return_offset);
}

static void set_cfa(struct cfi_cursor *cursor, uint64_t reg, int64_t offset)
{
    cursor->row.cfa_register = reg < CFI_NO_REG ? (uint16_t)reg : CFI_NO_REG;
    cursor->row.cfa_offset = offset;
}

static int64_t factored(const struct cfi_cursor *cursor, int64_t number)
{
    return (int64_t)((uint64_t)number * (uint64_t)cursor->cie->data_factor);
}

/* Returns by how much the location advances. */
static uint64_t advance(const struct cfi_cursor *cursor, uint64_t number)
{
    return number * cursor->cie->code_factor;
}

static void remember(struct cfi_cursor *cursor)
{
    if (cursor->depth == CFI_MAX_DEPTH)
        cursor->is_malformed = true;
    else
        cursor->remembered[cursor->depth++] = cursor->row;
}

static void recall(struct cfi_cursor *cursor)
{
    if (cursor->depth == 0)
        cursor->is_malformed = true;
    else
        cursor->row = cursor->remembered[--cursor->depth];
}

static void operation(struct cfi_cursor *cursor, uint8_t code, struct dwarf_reader *reader)
{
    uint64_t reg;

    switch (code) {
    case CFA_NOP:
        break;
    case CFA_RESTORE_EXTENDED:
        restore_rule(cursor, dwarf_uleb(reader));
        break;
    case CFA_UNDEFINED:
        set_rule(cursor, dwarf_uleb(reader), CFI_RETURN_UNDEFINED, 0);
        break;
    case CFA_SAME_VALUE:
        set_rule(cursor, dwarf_uleb(reader), CFI_RETURN_OTHER, 0);
        break;
    case CFA_REGISTER:
        set_rule(cursor, dwarf_uleb(reader), CFI_RETURN_OTHER, 0);
        dwarf_uleb(reader);
        break;
    case CFA_REMEMBER_STATE:
        remember(cursor);
        break;
    case CFA_RESTORE_STATE:
        recall(cursor);
        break;
    case CFA_DEF_CFA:
        reg = dwarf_uleb(reader);
        set_cfa(cursor, reg, (int64_t)dwarf_uleb(reader));
        break;
    case CFA_DEF_CFA_SF:
        reg = dwarf_uleb(reader);
        set_cfa(cursor, reg, factored(cursor, dwarf_sleb(reader)));
        break;
    case CFA_DEF_CFA_REGISTER:
        set_cfa(cursor, dwarf_uleb(reader), cursor->row.cfa_offset);
        break;
    case CFA_DEF_CFA_OFFSET:
        cursor->row.cfa_offset = (int64_t)dwarf_uleb(reader);
        break;
    case CFA_DEF_CFA_OFFSET_SF:
        cursor->row.cfa_offset = factored(cursor, dwarf_sleb(reader));
        break;
    case CFA_DEF_CFA_EXPRESSION:
        dwarf_skip(reader, dwarf_uleb(reader));
        set_cfa(cursor, CFI_NO_REG, 0);
        break;
    case CFA_EXPRESSION:
    case CFA_VAL_EXPRESSION:
        set_rule(cursor, dwarf_uleb(reader), CFI_RETURN_OTHER, 0);
        dwarf_skip(reader, dwarf_uleb(reader));
        break;
    case CFA_OFFSET_EXTENDED:
        reg = dwarf_uleb(reader);
        set_rule(cursor, reg, CFI_RETURN_AT_OFFSET, factored(cursor, (int64_t)dwarf_uleb(reader)));
        break;
    case CFA_OFFSET_EXTENDED_SF:
        reg = dwarf_uleb(reader);
        set_rule(cursor, reg, CFI_RETURN_AT_OFFSET, factored(cursor, dwarf_sleb(reader)));
        break;
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF:
    case CFA_GNU_NEGATIVE_OFFSET:
        set_rule(cursor, dwarf_uleb(reader), CFI_RETURN_OTHER, 0);
        dwarf_uleb(reader);
        break;
    case CFA_GNU_ARGS_SIZE:
        dwarf_uleb(reader);
        break;
    default:
        cursor->is_malformed = true;
        break;
    }
}

/* One instruction; returns by how many bytes it moves the location. */
static uint64_t step(struct cfi_cursor *cursor, struct dwarf_reader *reader)
{
    uint8_t code = (uint8_t)dwarf_fixed(reader, 1);
    uint64_t low = code & 0x3f;

    switch (code & 0xc0) {
    case CFA_ADVANCE_LOC:
        return advance(cursor, low);
    case CFA_OFFSET:
        set_rule(cursor, low, CFI_RETURN_AT_OFFSET, factored(cursor, (int64_t)dwarf_uleb(reader)));
        return 0;
    case CFA_RESTORE:
        restore_rule(cursor, low);
        return 0;
    }
    switch (code) {
    case CFA_ADVANCE_LOC1:
        return advance(cursor, dwarf_fixed(reader, 1));
    case CFA_ADVANCE_LOC2:
        return advance(cursor, dwarf_fixed(reader, 2));
    case CFA_ADVANCE_LOC4:
        return advance(cursor, dwarf_fixed(reader, 4));
    default: /* DW_CFA_set_loc, which no compiler writes, among what is unknown */
        operation(cursor, code, reader);
        return 0;
    }
}

/* Runs instructions up to the next row; returns how far away that is, UINT64_MAX for none. */
static uint64_t run(struct cfi_cursor *cursor, struct cfi_program *program)
{
    struct dwarf_reader reader = {program->bytes, program->bytes + program->size, false};
    uint64_t distance = 0;

    while (distance == 0 && reader.at < reader.end && !cursor->is_malformed) {
        distance = step(cursor, &reader);
        if (reader.is_short)
            cursor->is_malformed = true;
    }
    program->bytes = reader.at;
    program->size = (size_t)(reader.end - reader.at);
    return distance && !cursor->is_malformed ? distance : UINT64_MAX;
}

size_t cfi_instruction(const struct cie *cie, struct cfi_program rest, uint64_t *advance)
{
    struct dwarf_reader reader = {rest.bytes, rest.bytes + rest.size, rest.size == 0};
    struct cfi_cursor scratch; /* only what is looked at is set: this runs for each instruction */

    if (rest.size == 0)
        return 0;
    scratch.cie = cie;
    scratch.row = scratch.initial = scratch.remembered[0] = (struct cfi_row){0};
    scratch.depth = 1; /* for DW_CFA_restore_state */
    scratch.is_malformed = false;
    *advance = step(&scratch, &reader);
    return scratch.is_malformed || reader.is_short ? 0 : (size_t)(reader.at - rest.bytes);
}

static void next_row(struct cfi_cursor *cursor, uint64_t from)
{
    uint64_t distance = run(cursor, &cursor->rest);

    cursor->next = distance > UINT64_MAX - from ? UINT64_MAX : from + distance;
    if (cursor->is_malformed)
        set_cfa(cursor, CFI_NO_REG, 0);
}

void cfi_begin(struct cfi_cursor *cursor, const struct eh_frame *frame, const struct fde *fde)
{
    struct cfi_program common = frame->cies[fde->cie].program;

    *cursor = (struct cfi_cursor){.cie = &frame->cies[fde->cie], .rest = fde->program};
    cursor->row.cfa_register = CFI_NO_REG;
    run(cursor, &common);
    cursor->initial = cursor->row;
    next_row(cursor, fde->address);
}

void cfi_seek(struct cfi_cursor *cursor, uint64_t address)
{
    while (address >= cursor->next)
        next_row(cursor, cursor->next);
}
