/*
 * mlockall's system call in a static program, sent here by `instrument`:
 *
 *      program:    mov  eax, 151       ->  jmp  stub
 *                  syscall                 2 bytes that are not run
 *      next:       …
 *
 *      stub:       lea  rcx, [next]
 *                  jmp  umbra_mlockall_call
 *
 * As the system call does, it keeps all but rax, rcx and r11, and the red zone. It leaves the address
 * of what is next in rcx.
 */
#include "hooks/linux/x86_64/hooks.inc"

    .globl  umbra_mlockall_call
    .type   umbra_mlockall_call, @function
umbra_mlockall_call:
    .cfi_startproc
    .cfi_def_cfa rsp, 0
    .cfi_register rip, rcx
    lea     rsp, [rsp - 128]
    .cfi_adjust_cfa_offset 128
    push_register rcx
    .cfi_rel_offset rip, 0
    push_register rdx
    push_register rsi
    push_register rdi
    push_register r8
    push_register r9
    push_register r10
    pushfq
    .cfi_adjust_cfa_offset 8
    cld
    call    umbra_lock_memory
    popfq
    .cfi_adjust_cfa_offset -8
    pop_register r10
    pop_register r9
    pop_register r8
    pop_register rdi
    pop_register rsi
    pop_register rdx
    pop_register rcx
    .cfi_register rip, rcx
    lea     rsp, [rsp + 128]
    .cfi_adjust_cfa_offset -128
    jmp     rcx
    .cfi_endproc
    .size   umbra_mlockall_call, . - umbra_mlockall_call

    .section .note.GNU-stack, "", @progbits
