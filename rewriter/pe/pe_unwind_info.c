#include "rewriter/pe/pe_unwind_info.h"

#include <string.h>

bool unwind_info_read(struct unwind_info *info, const struct pe_image *image, uint32_t rva)
{
    const uint8_t *head = pe_at_rva(image, rva, UNWIND_HEAD_SIZE);

    if (!head)
        return false;
    *info = (struct unwind_info){
        .version = head[0] & 7,
        .flags = head[0] >> 3,
        .prologue = head[1],
        .slot_count = head[2],
        .frame_register = head[3] & 15,
        .frame_offset = head[3] >> 4,
    };
    if (info->version < 1 || info->version > 2)
        return false;
    info->slots = info->slot_count ? pe_at_rva(image, rva + UNWIND_HEAD_SIZE,
                                               (uint64_t)info->slot_count * UNWIND_SLOT_SIZE)
                                   : head + UNWIND_HEAD_SIZE;
    return info->slots;
}

/* Slots that a code takes. */
static size_t slots_of(const struct unwind_info *info, const struct unwind_code *code)
{
    switch (code->operation) {
    case UNWIND_ALLOC_LARGE:
        return code->information ? 3 : 2;
    case UNWIND_SAVE:
    case UNWIND_SAVE_VECTOR:
        return 2;
    case UNWIND_SAVE_FAR:
    case UNWIND_SAVE_VECTOR_FAR:
        return 3;
    case UNWIND_EPILOG:
        return info->version == 1 ? 2 : 1;
    default:
        return 1;
    }
}

bool unwind_code_next(const struct unwind_info *info, size_t *at, struct unwind_code *code)
{
    const uint8_t *slot = info->slots + *at * UNWIND_SLOT_SIZE;
    uint16_t low = 0, high = 0;
    size_t count;

    if (*at >= info->slot_count)
        return false;
    *code = (struct unwind_code){
        .offset = slot[0], .operation = slot[1] & 15, .information = slot[1] >> 4};
    count = slots_of(info, code);
    if (count > info->slot_count - *at || code->operation > UNWIND_MACHINE_FRAME)
        return false;
    if (count > 1)
        memcpy(&low, slot + 2, sizeof(low));
    if (count > 2)
        memcpy(&high, slot + 4, sizeof(high));
    if (code->operation == UNWIND_ALLOC_SMALL)
        code->operand = code->information * 8u + 8;
    else if (code->operation == UNWIND_ALLOC_LARGE)
        code->operand = count == 2 ? low * 8u : low | (uint32_t)high << 16;
    code->size = (uint8_t)(count * UNWIND_SLOT_SIZE);
    *at += count;
    return true;
}

size_t unwind_prologue_codes(const struct unwind_info *info, uint8_t *lowest)
{
    struct unwind_code code;
    size_t at = 0, count = 0;

    *lowest = UINT8_MAX;
    while (unwind_code_next(info, &at, &code)) {
        if (code.operation == UNWIND_EPILOG)
            continue;
        count++;
        if (code.offset < *lowest)
            *lowest = code.offset;
    }
    return count;
}

/*
 * Codes come last instruction first, so what a frame register is set to depends on those behind:
 * the sum is taken anew from there.
 */
struct return_slot unwind_slot_at(const struct unwind_info *info, uint64_t offset)
{
    struct return_slot slot = {.base = RETURN_SLOT_RSP, .until = UINT64_MAX};
    bool is_framed = false;
    struct unwind_code code;
    size_t at = 0;

    while (unwind_code_next(info, &at, &code)) {
        if (code.operation == UNWIND_EPILOG)
            continue;
        if (code.offset > offset) {
            if (code.offset < slot.until)
                slot.until = code.offset;
            continue;
        }
        if (code.operation == UNWIND_SET_FRAME) {
            is_framed = true;
            slot.offset = -16 * info->frame_offset;
        } else if (code.operation == UNWIND_MACHINE_FRAME) {
            slot.base = RETURN_SLOT_UNKNOWN;
        } else if (code.operation == UNWIND_PUSH) {
            slot.offset += 8;
        } else if (code.operation == UNWIND_ALLOC_SMALL || code.operation == UNWIND_ALLOC_LARGE) {
            slot.offset += code.operand;
        }
    }
    if (is_framed)
        slot.base = info->frame_register == UNWIND_RBP ? RETURN_SLOT_RBP : RETURN_SLOT_UNKNOWN;
    return slot;
}
