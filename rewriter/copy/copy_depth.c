#include "rewriter/copy/copy_depth.h"

#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

#define WORD  8
#define REX_W 0x48
#define REX_B 0x41

void copy_depth_begin(struct copy_depth *depth, size_t function_size)
{
    if (depth->room < function_size) {
        free(depth->at);
        depth->room = function_size;
        depth->at = memory_zeroed(depth->room, sizeof *depth->at);
    } else {
        memset(depth->at, 0, function_size * sizeof *depth->at);
    }
    depth->size = function_size;
    depth->now = depth->body = 0;
    depth->frame = DEPTH_UNKNOWN;
    depth->is_over = false;
}

void copy_depth_free(struct copy_depth *depth)
{
    free(depth->at);
    *depth = (struct copy_depth){0};
}

void copy_depth_enter(struct copy_depth *depth, size_t offset)
{
    if (depth->is_over)
        depth->now = depth->at[offset] ? depth->at[offset] - 2 : depth->body;
    depth->is_over = false;
}

void copy_depth_branch(struct copy_depth *depth, size_t target)
{
    if (target >= depth->size) /* out of the function: its frame may be gone already */
        return;
    depth->body = depth->now;
    if (!depth->at[target])
        depth->at[target] = depth->now + 2;
}

void copy_depth_end(struct copy_depth *depth)
{
    depth->is_over = true;
}

static int32_t number_at(const uint8_t *bytes, bool is_byte)
{
    int32_t number;

    if (is_byte)
        return (int8_t)*bytes;
    memcpy(&number, bytes, sizeof number);
    return number;
}

/* Of `opcode modrm number`, with a number of 8 bits if it is the first opcode. */
static bool has_form(const uint8_t *bytes, uint8_t byte_opcode, uint8_t opcode, uint8_t modrm)
{
    return (bytes[0] == byte_opcode || bytes[0] == opcode) && bytes[1] == modrm;
}

static void move(int32_t *depth, int32_t by)
{
    if (*depth != DEPTH_UNKNOWN)
        *depth += by;
}

/* add, sub, and, mov rsp, register */
static bool is_set_by_register(const uint8_t *bytes)
{
    bool is_store = bytes[0] == 0x01 || bytes[0] == 0x29 || bytes[0] == 0x21 || bytes[0] == 0x89;

    return is_store && (bytes[1] & 0xc7) == 0xc4;
}

/* With a 64-bit operand: what changes rsp, or sets rbp. bytes: behind the prefix. */
static void pass_wide(struct copy_depth *depth, const uint8_t *bytes)
{
    bool is_byte = bytes[0] == 0x83;

    if (has_form(bytes, 0x83, 0x81, 0xec)) /* sub rsp, n */
        move(&depth->now, number_at(bytes + 2, is_byte));
    else if (has_form(bytes, 0x83, 0x81, 0xc4)) /* add rsp, n */
        move(&depth->now, -number_at(bytes + 2, is_byte));
    else if (has_form(bytes, 0x8d, 0x8d, 0x64) && bytes[2] == 0x24) /* lea rsp, [rsp + n] */
        move(&depth->now, -number_at(bytes + 3, true));
    else if (has_form(bytes, 0x8d, 0x8d, 0xa4) && bytes[2] == 0x24)
        move(&depth->now, -number_at(bytes + 3, false));
    else if (bytes[0] == 0x8d && (bytes[1] == 0x65 || bytes[1] == 0xa5)) { /* lea rsp, [rbp + n] */
        depth->now = depth->frame;
        move(&depth->now, -number_at(bytes + 2, bytes[1] == 0x65));
    } else if (has_form(bytes, 0x89, 0x89, 0xe5) || has_form(bytes, 0x8b, 0x8b, 0xec))
        depth->frame = depth->now; /* mov rbp, rsp */
    else if (has_form(bytes, 0x89, 0x89, 0xec) || has_form(bytes, 0x8b, 0x8b, 0xe5))
        depth->now = depth->frame; /* mov rsp, rbp */
    else if (has_form(bytes, 0x83, 0x81, 0xe4) || is_set_by_register(bytes))
        depth->now = DEPTH_UNKNOWN; /* and rsp, n; mov rsp, rax */
}

void copy_depth_pass(struct copy_depth *depth, const uint8_t *bytes, size_t length)
{
    uint8_t opcode = bytes[0];

    if (length > 2 && opcode == REX_W) {
        pass_wide(depth, bytes + 1);
        return;
    }
    if (length > 1 && opcode == REX_B)
        opcode = bytes[1];
    if ((opcode & 0xf8) == 0x50 || opcode == 0x68 || opcode == 0x6a || opcode == 0x9c)
        move(&depth->now, WORD); /* push */
    else if ((opcode & 0xf8) == 0x58 || opcode == 0x9d)
        move(&depth->now, -WORD); /* pop */
    else if (opcode == 0xff && length > 1 && (bytes[1] & 0x38) == 0x30)
        move(&depth->now, WORD); /* push [m] */
    else if (opcode == 0xc9) {   /* leave */
        depth->now = depth->frame;
        move(&depth->now, -WORD);
    }
}
