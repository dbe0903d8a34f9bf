/*
 * A thunk of i386, entered by a jump, with the program's eax and ecx pushed behind the return-address slot S
 * (esp = S - 8), as the stub has left them:
 *
 *      +0   pop  eax
 *      +1   pop  ecx
 *      +2   lea  esp, [esp + 4]      esp = S + 4: the call writes S anew, and no flag changes
 *      +6   call [record.body]       writes T = thunk + 12 into S: the swizzle
 *     +12   push [record.ret]        S holds the true return address again
 *     +18   push eax
 *     +19   mov  eax, record
 *     +24   jmp  [record 0.body]     the exit hook, with eax pushed, which ends in `ret`
 *
 * Nothing is relative to where the code is, so each block has code of its own, with addresses in it. It is
 * written as the block is mapped, and can be executed once it can no longer be written.
 */
#ifndef UMBRA_THUNKSTASH_THUNK_LAYOUT_H
#define UMBRA_THUNKSTASH_THUNK_LAYOUT_H

#define THUNK_RETURN 12 /* T - thunk */
/* Functions may take their arguments off the stack: they return with the stack pointer above S + 4. */
#define RETURN_MAY_MOVE 1

#endif
