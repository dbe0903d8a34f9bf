/*
 * The agent's prctl and syscall, which a dynamic program finds before the C library's:
 *
 *      program:    call prctl      ->   a filter is to be installed: the agent looks at it first
 *                                       jmp  [the C library's prctl]
 *
 * So the C library's function is called from where the program calls it, and is recorded so if it is
 * hooked. Where that function is is looked up once.
 */
#include "hooks/linux/x86_64/calls.inc"

#include <sys/syscall.h>

#define PR_SET_SECCOMP 22
#define PR_SET_TSC     26

    exported_function prctl
    .cfi_startproc
    cmp     edi, PR_SET_SECCOMP
    je      1f
    cmp     edi, PR_SET_TSC
    jne     2f
1:  call_before umbra_before_prctl
2:  go_to_next prctl, 3f
3:  mov     eax, SYS_prctl
    mov     r10, rcx
    syscall
    ret
    .cfi_endproc
    .size   prctl, . - prctl

    exported_function syscall
    .cfi_startproc
    cmp     rdi, SYS_seccomp
    jne     2f
    call_before umbra_before_syscall
2:  go_to_next syscall, 3f
3:  mov     rax, rdi
    mov     rdi, rsi
    mov     rsi, rdx
    mov     rdx, rcx
    mov     r10, r8
    mov     r8, r9
    mov     r9, [rsp + 8]
    syscall
    ret
    .cfi_endproc
    .size   syscall, . - syscall

    .section .note.GNU-stack, "", @progbits
