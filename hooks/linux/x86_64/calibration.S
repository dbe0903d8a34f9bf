/*
 * The functions of calibration.inc, patched by hand as image_manifest.h has it, and the same ones
 * as they are.
 */
#include "hooks/offsets.h"

#define ARGUMENT     rdi
#define ARGUMENT_LOW edi

    .intel_syntax noprefix
#include "hooks/x86_64/calibration.inc"

    .macro hidden_object name
    .globl  \name
    .hidden \name
\name:
    .endm

    .macro whole_body name, index, zero, one
    push    rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    two_calls \name, \index, \zero, \one
    pop     rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbx
    ret
    .endm

    .macro hooked_function name, index, zero, one
    .balign 16
    .type   \name\()_\index, @function
\name\()_\index:
    .cfi_startproc
    mov     [rsp - 24], rcx
    mov     rcx, [rip + umbra_calibration_image + IMAGE_ENTRY_HOOK]
    jrcxz   1f
    mov     [rsp - 16], rax
    lea     rax, [rip + body_\index]
    jmp     rcx
    .long   umbra_calibration_image - body_\index
    .long   \index
1:  mov     rcx, [rsp - 24]
body_\index:
    whole_body \name, \index, \zero, \one
    .cfi_endproc
    .size   \name\()_\index, . - \name\()_\index
    .endm

    .macro plain_function name, index, zero, one
    .balign 16
    .type   \name\()_\index, @function
\name\()_\index:
    .cfi_startproc
    whole_body \name, \index, \zero, \one
    .cfi_endproc
    .size   \name\()_\index, . - \name\()_\index
    .endm

hidden_object umbra_calibration_hooked
    eight_functions hooked_function, hooked

    .balign 16
hidden_object umbra_calibration_plain
    eight_functions plain_function, plain

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

    .section .rodata
    .balign 4
hidden_object umbra_calibration_sites
    all_sites umbra_calibration_sites

    .section .note.GNU-stack, "", @progbits
