/*
 * Where the stub of _Unwind_Find_FDE goes that libgcc has in a process that runs (trace/attached_agent.h): the
 * agent's own frames are found here, all others where they always were.
 *
 *      _Unwind_Find_FDE(rdi: address, rsi: struct frame_bases *)      rax: its body
 *
 * rcx and rdx hold no arguments of it.
 */
    .intel_syntax noprefix
    .text
    .globl  umbra_find_frame
    .type   umbra_find_frame, @function
umbra_find_frame:
    .cfi_startproc
    lea     rcx, [rip + __ehdr_start]
    cmp     rdi, rcx
    jb      1f
    lea     rcx, [rip + umbra_stash_end]
    cmp     rdi, rcx
    jae     1f
    mov     rdx, rsi
    mov     rsi, rdi
    lea     rdi, [rip + umbra_frame_index]
    jmp     own_frame
1:  jmp     rax
    .cfi_endproc
    .size   umbra_find_frame, . - umbra_find_frame

    .section .note.GNU-stack, "", @progbits
