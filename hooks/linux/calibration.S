/*
 * A function that calls itself as fib does, patched by hand as image_manifest.h has it, and the
 * same one as it is. fib(n): two calls for each n above 1.
 */
#include "trace/image_offsets.h"

    .intel_syntax noprefix
    .text

    .macro hidden_object name
    .globl  \name
    .hidden \name
\name:
    .endm

/* The body, with call sites \name_first and \name_second. */
    .macro fib name, callee
    push    rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    mov     rbx, rdi
    cmp     rdi, 2
    jl      1f
    lea     rdi, [rbx - 1]
    call    \callee
hidden_object \name\()_first
    lea     rdi, [rbx - 2]
    call    \callee
hidden_object \name\()_second
1:  pop     rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbx
    ret
    .endm

    .type   umbra_calibration_hooked, @function
hidden_object umbra_calibration_hooked
    .cfi_startproc
    mov     [rsp - 24], rcx
    mov     rcx, [rip + umbra_calibration_image + IMAGE_ENTRY_HOOK]
    jrcxz   1f
    mov     [rsp - 16], rax
    lea     rax, [rip + hooked_body]
    jmp     rcx
    .long   umbra_calibration_image - hooked_body
    .long   0
1:  mov     rcx, [rsp - 24]
hooked_body:
    fib umbra_calibration, umbra_calibration_hooked
    .cfi_endproc
    .size   umbra_calibration_hooked, . - umbra_calibration_hooked

    .balign 16
    .type   umbra_calibration_plain, @function
hidden_object umbra_calibration_plain
    .cfi_startproc
    fib umbra_calibration_plain, umbra_calibration_plain
    .cfi_endproc
    .size   umbra_calibration_plain, . - umbra_calibration_plain

/* (function, n): function(n), from a site that is known. */
    .type   umbra_calibration_call, @function
hidden_object umbra_calibration_call
    .cfi_startproc
    mov     rax, rdi
    mov     rdi, rsi
    push    rbx
    .cfi_adjust_cfa_offset 8
    call    rax
hidden_object umbra_calibration_outermost
    pop     rbx
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size   umbra_calibration_call, . - umbra_calibration_call

    .section .note.GNU-stack, "", @progbits
