/*
 * An agent that records nothing: goes on to the body with rax and rcx restored. See image_manifest.h.
 * What copied bodies jump to and call is put beside the hook word first, as the agent does that.
 */
#include "trace/image_offsets.h"

    .text
    .globl umbra_enter_6
    .type umbra_enter_6, @function
umbra_enter_6:
    .cfi_startproc
    mov %rdx, -40(%rsp)
    mov %rax, -32(%rsp)
    movslq STUB_HEADER_DISTANCE(%rax), %rcx
    lea (%rax, %rcx), %rax              /* the header; flags are kept */
    mov IMAGE_HEADER_RVA(%rax), %ecx
    mov IMAGE_HOOK_RVA(%rax), %edx
    not %rcx
    lea 1(%rax, %rcx), %rax
    lea (%rax, %rdx), %rax              /* the hook word */
    lea copy_entry(%rip), %rcx
    mov %rcx, 16(%rax)
    mov %rcx, 24(%rax)
    lea copy_pass(%rip), %rcx
    mov %rcx, 32(%rax)
    mov %rcx, 40(%rax)
    mov %rcx, 48(%rax)
    mov -40(%rsp), %rdx
    mov -24(%rsp), %rcx
    mov -16(%rsp), %rax
    jmp *-32(%rsp)
    .cfi_endproc
    .size umbra_enter_6, .-umbra_enter_6

copy_entry:
    .cfi_startproc
    mov COPY_START(%rax), %ecx          /* rax: the key */
    add %rcx, %rax
    mov %rax, -64(%rsp)
    mov -56(%rsp), %rdi
    mov -48(%rsp), %rsi
    mov -40(%rsp), %rdx
    mov -24(%rsp), %rcx
    mov -16(%rsp), %rax
    jmp *-64(%rsp)
    .cfi_endproc

copy_pass:
    .cfi_startproc
    ret
    .cfi_endproc

    .section .note.GNU-stack, "", @progbits
