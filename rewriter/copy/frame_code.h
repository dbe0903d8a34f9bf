/*
 * What stands in front of calls in copies (docs/copies.md): the caller counts the call, and writes
 * the callee's context beside the callee's frame.
 *
 *          mov  [rsp - 24], a              two registers, unless they are dead here
 *          mov  [rsp - 32], b
 *          mov  b, [frames]                where the thread has its words
 *          test b, b
 *          jz   back                       nothing is recorded
 *          mov  a, rsp
 *          sub  a, fs:[b + LOW]
 *          cmp  a, fs:[b + SIZE]           on its own stack, as far as the shadow goes?
 *          jae  slow
 *          add  a, fs:[b + SHADOW]
 *          mov  b, [a + own]               the caller's context
 *          test b, b
 *          jz   slow
 *          cmp  dword [b + KEY], key       whatever happened to the stack: this is a context of it
 *          jne  slow
 *          inc  dword [b + link + WORD]
 *          jns  counted                    the first one, or one that is to be timed
 *          mov  b, [b + link + CALLEE]
 *          mov  [a - 8], b                 not for a leaf, which calls nobody
 *  back:   mov  b, [rsp - 32]
 *          mov  a, [rsp - 24]
 *  call:   call copy of callee
 *
 * A function whose frame is known by rbp looks first whether that is on its own stack, too: it may
 * have changed stacks since.
 *
 *          lea  a, [rbp + own]
 *          sub  a, fs:[b + LOW]
 *          cmp  a, fs:[b + SIZE]
 *          jae  slow
 *
 * Behind all copies of the image, for each call:
 *
 *  counted:  dec  dword [b + link + WORD]
 *  slow:     mov  b, [rsp - 32]
 *            mov  a, [rsp - 24]
 *            call [on_site]                which goes on at `call` itself
 *            struct frame_site
 *
 * What is not copied is called with a note of who calls, in place of the count:
 *
 *          or   b, CALLED_OUT
 *          mov  [a - 8], b
 *          mov  b, [words]                 as [frames], but never 0
 *          mov  fs:[b + NOTE], rsp
 *
 * A call by a pointer: frame_pointers.h.
 *
 * Where instructions are counted, these are added to the caller's context before its call is counted:
 *
 *          add  qword [b + INSTRUCTIONS], number
 *
 * or, if the thread's cells may hold some, too, with a third register:
 *
 *          mov  [rsp - 56], c              unless it is dead
 *          mov  c, fs:[CELL]               first of all
 *          mov  qword fs:[CELL], 0
 *          ...
 *          lea  c, [c + number]
 *          add  [b + INSTRUCTIONS], c
 *
 * What takes the slow path before that adds both to a cell, and the agent counts it.
 *
 * A jump that leaves the function is the same, but that its own frame becomes that of the function
 * it leads to: its slot is where the stack pointer is.
 */
#ifndef UMBRA_REWRITER_FRAME_CODE_H
#define UMBRA_REWRITER_FRAME_CODE_H

#include "rewriter/code/code.h"
#include "rewriter/copy/copy_plan.h"
#include "rewriter/copy/copy_writer.h"

/* A call, or a jump that leaves. */
struct frame_place {
    struct return_slot slot; /* known */
    uint32_t member;           /* that it is in: place in the function list */
    uint64_t original;       /* address in the original */
    uint16_t dead;           /* registers that nobody reads any more: bit 0 is rax */
    bool is_tail;
    bool is_out;     /* not to a copy */
    bool is_pointer; /* out, to what r11 leads to */
    uint64_t
        slot_bound;  /* to a copy, if the word there is bound to `callee`; r11 is that word. Or 0 */
    uint64_t callee; /* the address of that copy's function, or 0 */
    bool is_to_leaf; /* to a copy that calls nobody */
    bool is_return;  /* no call: instructions are counted in front of a return, as in front of a jump out */
    bool is_within;  /* with that: not in front of a return, but anywhere */
    bool counts;          /* instructions (copy_count.h): */
    int32_t instructions; /* those that are pending */
    uint8_t held;         /* cells that may hold more */
};

struct frame_code;

struct frame_code *frame_code_begin(struct copy_writer *writer, const struct copy_plan *plan,
                                    const struct function_list *functions);
/* Appends the slow paths, and fills in what was not known before. */
void frame_code_end(struct frame_code *code);

/* Whether one more of the calls of a member can be counted. */
bool frame_code_has_room(const struct frame_code *code, uint32_t member);
/* The key of a function: its copy's first instruction follows. */
void frame_code_put_key(struct frame_code *code, uint32_t member);
/* What stands in front of the call, which is to follow. */
void frame_code_put_site(struct frame_code *code, const struct frame_place *place);

#endif
