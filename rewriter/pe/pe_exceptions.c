/*
 * Unwind information of the stubs. A fault, the guard page below the stack or a debugger may find
 * a thread in a displaced prologue, half way through setting up its frame. So each stub whose body
 * does that has an entry in .pdata, with those of its function's codes that belong to displaced
 * instructions:
 *
 *      function:  push rbx             code at 2         body:  push rbx             code at 2
 *                 sub  rsp, 32         code at 6   ->           sub  rsp, 32         code at 6
 *                 mov  rbx, [rip + n]                           mov  rbx, [rip + m]
 *                                                               jmp  back
 *
 * All of the body is prologue: an unwinder takes a `jmp` behind the prologue for the end of an
 * epilogue. Where a displaced call leaves the body the stack pointer is at its return address, as
 * in a leaf, which has no entry. Handlers are not named: what is displaced from behind a guarded
 * function's prologue cannot fault. Stubs lie behind all code, so the table stays sorted.
 */
#include "rewriter/pe/pe_layout.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CODES 64 /* bytes of the codes of what is displaced: no more than 10 instructions */

/* Unwind information being put together. */
struct draft {
    uint8_t head[UNWIND_HEAD_SIZE];
    uint8_t slots[MAX_CODES];
    size_t size; /* of the slots, in bytes */
};

static bool put_code(struct draft *draft, uint8_t offset, uint8_t operation, const uint8_t *operand,
                     size_t operand_size)
{
    if (draft->size + UNWIND_SLOT_SIZE + operand_size > MAX_CODES)
        return false;
    draft->slots[draft->size] = offset;
    draft->slots[draft->size + 1] = operation;
    if (operand_size)
        memcpy(draft->slots + draft->size + UNWIND_SLOT_SIZE, operand, operand_size);
    draft->size += UNWIND_SLOT_SIZE + operand_size;
    return true;
}

/* See stub.h: from these bytes on the stack pointer is lower. */
static void put_call(struct draft *draft, const struct stub_moves *moves)
{
    uint8_t call = moves->to[moves->call];

    put_code(draft, call + STUB_CALL_SAVED, UNWIND_ALLOC_SMALL, NULL, 0);
    put_code(draft, call + STUB_CALL_PUSHED, UNWIND_ALLOC_SMALL, NULL, 0);
}

/* Codes of displaced instructions, their offsets those in the body. */
static bool put_codes(struct draft *draft, const struct unwind_info *info,
                      const struct function *function, const struct stub_moves *moves)
{
    struct unwind_code code;
    size_t at = 0, from = 0;

    for (; unwind_code_next(info, &at, &code); from = at) {
        const uint8_t *slot = info->slots + from * UNWIND_SLOT_SIZE;
        unsigned offset = (unsigned)code.offset - function->patch_offset;

        if (code.operation == UNWIND_EPILOG || code.offset < function->patch_offset ||
            offset > function->displaced)
            continue;
        if (offset && !moves->to[offset])
            return false; /* in the middle of an instruction */
        if (!put_code(draft, moves->to[offset], slot[1], slot + UNWIND_SLOT_SIZE,
                      code.size - UNWIND_SLOT_SIZE))
            return false;
        if (code.operation == UNWIND_SET_FRAME)
            draft->head[3] = (uint8_t)(info->frame_register | info->frame_offset << 4);
    }
    return true;
}

/* Bytes of the body, of `length`, that the entry is for; 0 if it needs none. */
static uint8_t draft_make(struct draft *draft, const struct pe_code *pe,
                          const struct function *function, const struct stub_moves *moves,
                          uint32_t length)
{
    uint32_t rva = (uint32_t)(function->address - pe->image->base);
    const struct pe_runtime_function *entry = pe_entry_at(pe, rva);
    struct unwind_info info;

    *draft = (struct draft){.head = {1}};
    if (!entry || entry->start != rva || !unwind_info_read(&info, pe->image, entry->unwind))
        return 0;
    if (moves->has_call) {
        length = moves->to[moves->call] + (uint32_t)STUB_CALL_LEAVING;
        put_call(draft, moves);
    }
    if (!put_codes(draft, &info, function, moves) || draft->size == 0 || length > UINT8_MAX)
        return 0;
    draft->head[1] = (uint8_t)length;
    draft->head[2] = (uint8_t)(draft->size / UNWIND_SLOT_SIZE);
    return (uint8_t)length;
}

/* The information, which may be shared with the stub before, and the entry. */
static void put_entry(struct pe_layout *layout, struct buffer *entries, const struct draft *draft,
                      uint32_t body, uint8_t length, size_t *last)
{
    struct buffer *tables = &layout->tables;
    size_t size = sizeof(draft->head) + (draft->size + 3) / 4 * 4;
    struct pe_runtime_function entry = {body, body + length, 0};

    if (*last == SIZE_MAX || *last + size > tables->size ||
        memcmp(tables->bytes + *last, draft, size) != 0) {
        *last = buffer_align(tables, 4, 0);
        buffer_append(tables, draft, size);
    }
    entry.unwind = layout->tables_rva + (uint32_t)*last;
    buffer_append(entries, &entry, sizeof(entry));
}

/* Where the body before ends: stubs follow each other in the order of the functions. */
static uint32_t next_stub(const struct pe_code *pe, const struct pe_layout *layout, size_t from)
{
    for (size_t i = from; i < pe->functions.count; i++)
        if (patch_reason_is_hooked(pe->functions.items[i].reason))
            return pe->functions.items[i].stub;
    return (uint32_t)layout->stubs.code.size;
}

void pe_exceptions_build(struct pe_layout *layout, const struct pe_code *pe,
                         const struct stub_moves *moves)
{
    struct pe_table original =
        pe_directory_table(pe->image, PE_EXCEPTIONS, sizeof(struct pe_runtime_function));
    struct buffer entries = {0};
    size_t last = SIZE_MAX;
    struct draft draft;

    if (original.count)
        buffer_append(&entries, original.bytes,
                      original.count * sizeof(struct pe_runtime_function));
    for (size_t i = 0; i < pe->functions.count; i++) {
        const struct function *function = &pe->functions.items[i];
        uint32_t next = next_stub(pe, layout, i + 1);
        uint8_t length;

        if (!patch_reason_is_hooked(function->reason) || function->is_import)
            continue;
        length = draft_make(&draft, pe, function, &moves[i], next - function->body);
        if (length)
            put_entry(layout, &entries, &draft, layout->stubs_rva + function->body, length, &last);
    }
    buffer_align(&layout->tables, 4, 0);
    layout->exceptions.size = entries.size;
    layout->exceptions.offset = buffer_append(&layout->tables, entries.bytes, entries.size);
    free(entries.bytes);
}
