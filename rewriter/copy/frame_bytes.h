/*
 * What the code of sites is made of (frame_code.h): instructions as bytes, jumps whose ends are not known yet,
 * and leaving a note of who calls.
 */
#ifndef UMBRA_REWRITER_FRAME_BYTES_H
#define UMBRA_REWRITER_FRAME_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/copy/copy_writer.h"
#include "trace/frame_format.h"

enum reg { RCX = 1, RDX = 2, RSP = 4, RBP = 5, RSI = 6, RDI = 7, R10 = 10, R11 = 11 };

/* The registers that a site works with; those that are saved are alive. c: only where instructions are counted. */
struct scratch {
    uint8_t a, b, c;
    bool saves_a, saves_b, saves_c;
};

/* Displacements. */
#define WORDS(field)   ((int32_t)offsetof(struct frame_words, field))
#define LINKS(field)   ((int32_t)offsetof(struct trace_links, field))
#define LINK(field)    ((int32_t)offsetof(struct trace_link, field))
#define POINTER(field) ((int32_t)offsetof(struct pointer_links, field))
#define FURTHER(field) ((int32_t)offsetof(struct further_target, field))
#define FURTHER_SIZE   ((int32_t)sizeof(struct further_target))

/* Opcodes. */
#define WIDE         8 /* REX.W */
#define LOAD         0x8b
#define LEA          0x8d
#define TEST         0x85
#define STORE        0x89
#define ADD_LOAD     0x03
#define ADD_STORE    0x01
#define SUB_LOAD     0x2b
#define CMP_LOAD     0x3b
#define CMP          0x39
#define AND_LOAD     0x23
#define MULTIPLY     0x69 /* imul, with 32 bits behind it */
#define GROUP_4      0xfe /* inc, dec of a byte: by `reg` */
#define GROUP_5      0xff /* inc, dec: by `reg` */
#define IN_THREAD    0x64 /* prefix: fs */
#define GROUP_8_BITS 0x83 /* cmp, or: by `reg`, with 8 bits behind it */
#define TAKES_WORD   0x81 /* cmp, or, add: by `reg`, with 32 bits behind it */
#define MOVE_WORD    0xc7 /* mov to memory, with 32 bits behind it */

/* Conditions of jumps. */
#define IF_NEGATIVE     8
#define IF_NEGATIVE_NOT 9
#define IF_ZERO         4
#define IF_NOT_ZERO     5
#define IF_NOT_BELOW    3
#define JUMP_NOT_EQUAL    0x75
#define JUMP_EQUAL        0x74
#define JUMP_NOT_NEGATIVE 0x79
#define JUMP              0xeb
#define NEAR_JUMP         0xe9

/* Of jumps to one place that is not there yet: where the distance of the last one is, as an offset, and
   in that field the same of the one before. NO_FIELD: there is no such jump. */
#define NO_FIELD 0

void frame_put8(struct copy_writer *writer, unsigned byte);
void frame_put32(struct copy_writer *writer, uint32_t word);

/* An instruction with a register and an operand in memory, [base + displacement]. rex: WIDE, or 0. */
void frame_put_memory(struct copy_writer *writer, uint8_t rex, uint8_t opcode, unsigned reg,
                      unsigned base, int32_t displacement);
/* The same, of 64 bits, at fs:[base + displacement]. */
void frame_put_thread(struct copy_writer *writer, uint8_t opcode, unsigned reg, unsigned base,
                      int32_t displacement);
/* An instruction of 64 bits with two registers. */
void frame_put_registers(struct copy_writer *writer, uint8_t opcode, unsigned reg, unsigned rm);
/* add qword [base + displacement], number */
void frame_put_add(struct copy_writer *writer, unsigned base, int32_t displacement, int32_t number);
/* An instruction with a register and one of the thread's cells (struct frame_counts); adding a number to it. */
void frame_put_cell(struct copy_writer *writer, uint8_t opcode, unsigned reg, unsigned cell);
void frame_put_cell_add(struct copy_writer *writer, unsigned cell, int32_t number);
/* or reg, bits */
void frame_put_or(struct copy_writer *writer, unsigned reg, uint8_t bits);
/* Loads a word of the trace's header. */
void frame_put_header_word(struct copy_writer *writer, unsigned reg, size_t word);

/* A jump to an address; one on a condition, as the last of several that frame_land takes; a short one, whose
   end frame_land_short takes. All of these land here. */
void frame_put_jump(struct copy_writer *writer, uint64_t target);
void frame_put_jump_if(struct copy_writer *writer, uint8_t condition, uint32_t *last);
void frame_put_jump_on(struct copy_writer *writer, uint32_t *last); /* always */
void frame_land(struct copy_writer *writer, uint32_t last);
size_t frame_put_short(struct copy_writer *writer, uint8_t opcode);
void frame_land_short(struct copy_writer *writer, size_t from);

/* Where the shadow of the callee's slot is, from a. */
int32_t frame_callee_place(bool is_tail);

/* The thread's note, by `words`: a pause since the site's first test has made `frames` 0. */
void frame_put_note(struct copy_writer *writer, bool is_tail, const struct scratch *scratch);

#endif
