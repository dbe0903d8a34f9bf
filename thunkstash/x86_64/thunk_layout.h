/*
 * A thunk of x86-64, entered by a jump with rsp just above the return-address slot S (rsp = S + 8):
 *
 *      +0   call [record.body]       writes T = thunk + 6 into S: the swizzle
 *      +6   push [record.ret]        S holds the true return address again
 *     +12   mov  [rsp - 16], rax
 *     +17   lea  rax, [record]
 *     +24   jmp  [record 0.body]     the exit hook, which ends in `ret`
 *
 * On Windows the exit hook begins with that push, and rsp is S + 8 all through the thunk: one
 * description serves each of its instructions, and a thread can be stopped at any of them.
 *
 * All of it is relative to rip, so all blocks are the agent's own pages.
 */
#ifndef UMBRA_THUNKSTASH_THUNK_LAYOUT_H
#define UMBRA_THUNKSTASH_THUNK_LAYOUT_H

#define THUNK_RETURN 6 /* T - thunk */
#define RETURN_MAY_MOVE 0 /* calls return with the stack pointer just above S */

#endif
