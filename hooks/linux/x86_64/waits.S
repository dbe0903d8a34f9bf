/*
 * Where copies go after a system call that took long: `jmp`, with the return address in rcx, since the
 * words below the stack pointer may be in use (rewriter/copy/wait_code.h).
 */
#include "hooks/linux/x86_64/hooks.inc"

#define RED_ZONE 128

    hidden_function umbra_wait_is_over
    .cfi_startproc
    .cfi_def_cfa rsp, 0
    .cfi_register rip, rcx
    lea     rsp, [rsp - RED_ZONE]
    .cfi_adjust_cfa_offset RED_ZONE
    push_register rcx
    .cfi_rel_offset rip, 0
    .irp    register, rax, rdx, rsi, rdi, r8, r9, r10
    push_register \register
    .endr
    pushfq                                  /* the direction */
    .cfi_adjust_cfa_offset 8
    mov     rdi, rcx
    lea     rsi, [rsp + RED_ZONE + 72]
    mov     rdx, rsp                        /* struct kept_registers */
    cld
    call    umbra_note_wait
    popfq
    .cfi_adjust_cfa_offset -8
    .irp    register, r10, r9, r8, rdi, rsi, rdx, rax
    pop_register \register
    .endr
    pop_register rcx
    .cfi_register rip, rcx
    lea     rsp, [rsp + RED_ZONE]
    .cfi_adjust_cfa_offset -RED_ZONE
    jmp     rcx
    .cfi_endproc
    .size   umbra_wait_is_over, . - umbra_wait_is_over

    .section .note.GNU-stack, "", @progbits
