/*
 * A call by a pointer, where the thread is on its own stack and the caller's context is known (frame_code.h draws
 * that). The pointer is in r11; it is compared with two targets that the site knows:
 *
 *          cmp  r11, [b + TARGET 0]
 *          jne  second
 *          inc  dword [b + LINK 0 + WORD]
 *          jns  counted
 *          mov  r11, [b + LINK 0 + CALLEE]
 *          mov  [a - 8], r11
 *          mov  r11, [b + GO 0]
 *  join:   mov  b, [words]                 it may be the original, or a stub
 *          mov  fs:[b + NOTE], rsp
 *  noted:  ...
 *  call:   call r11
 *
 * and behind all copies
 *
 *  second: compares with target 1, and looks into the thread's table of further ones, unless it is a jump:
 *
 *          mov  [rsp - 40], a
 *          lea  b, [b + TARGET 0]          the site
 *          imul a, r11, HASH
 *          mov  [rsp - 48], r11
 *          add  a, b
 *          mov  r11, [words]               as [frames], but never 0
 *          and  a, fs:[r11 + MASK]
 *          mov  r11, fs:[r11 + FURTHER]
 *          test r11, r11
 *          jz   unknown                    there is no table
 *          add  a, r11
 *          mov  r11, [rsp - 48]
 *          cmp  [a], b                     at its home, or in the place behind it?
 *          jne  other
 *          cmp  [a + TARGET], r11
 *          je   found
 *  other:  cmp  [a + 32], b
 *          jne  unknown
 *          cmp  [a + 32 + TARGET], r11
 *          jne  unknown
 *          add  a, 32
 *  found:  mov  r11, [a + LINK]
 *          mov  b, [a + GO]
 *          mov  a, [rsp - 40]
 *          inc  dword [r11 + WORD]
 *          jns  its turn
 *          mov  r11, [r11 + CALLEE]
 *          mov  [a - 8], r11
 *          mov  r11, b
 *          jmp  noted                      it is a copy
 *
 * What is not known gets a note of who calls:
 *
 *  unknown: mov r11, [rsp - 48]
 *          mov  a, [rsp - 40]
 *          lea  b, [b - TARGET 0]
 *          cmp  qword [b + TARGET 1], 0
 *          je   slow                       there is room for another one
 *          dec  byte [b + UNKNOWN]
 *          js   slow                       it may be better known
 *          or   b, CALLED_OUT
 *          ...
 *          jmp  join
 *  its turn: dec dword [r11 + WORD]
 *          mov  r11, [rsp - 48]
 *          jmp  slow
 */
#ifndef UMBRA_REWRITER_FRAME_POINTERS_H
#define UMBRA_REWRITER_FRAME_POINTERS_H

#include "rewriter/copy/frame_bytes.h"

/* Such a place: what the rest of its code has to know. */
struct pointer_site {
    struct scratch scratch;
    int32_t first; /* where its struct pointer_links is, from b */
    bool is_tail;  /* a jump */
    uint32_t second;  /* field of the jump where r11 is not target 0 */
    uint32_t counted; /* and of the one where it is the turn of that target's link */
    uint64_t join;    /* where to go on with a target that is known */
    uint64_t noted;   /* and with one that is a copy, which needs no note */
};

/* Puts what is in front of the call. */
struct pointer_site frame_pointer_put(struct copy_writer *writer, const struct scratch *scratch,
                                      int32_t first, bool is_tail);

/* Puts the rest, behind all copies. What takes the slow path goes on behind that. */
void frame_pointer_put_rest(struct copy_writer *writer, const struct pointer_site *site);

#endif
