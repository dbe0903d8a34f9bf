/*
 * The functions of calibration.inc, patched by hand as image_manifest.h has it, and the same ones
 * as they are.
 */
#include "hooks/offsets.h"

#define ARGUMENT     rcx
#define ARGUMENT_LOW ecx

    .intel_syntax noprefix
#include "hooks/x86_64/calibration.inc"

    .macro global name
    .globl  \name
\name:
    .endm

    .macro hooked_function name, index, zero, one
    .balign 16
    .seh_proc \name\()_\index
\name\()_\index:
    .seh_endprologue
    mov     [rsp - 24], rcx
    mov     rcx, [rip + umbra_calibration_image + IMAGE_ENTRY_HOOK]
    jrcxz   1f
    mov     [rsp - 16], rax
    lea     rax, [rip + body_\index]
    jmp     rcx
    .long   umbra_calibration_image - body_\index
    .long   \index
1:  mov     rcx, [rsp - 24]
    .seh_endproc
    plain_function body, \index, \zero, \one, \name, 0
    .endm

    /* Aligned, unless it follows a stub that falls through into it. */
    .macro plain_function name, index, zero, one, callees=plain, alignment=4
    .p2align \alignment
    .seh_proc \name\()_\index
\name\()_\index:
    push    rbx
    .seh_pushreg rbx
    .seh_endprologue
    two_calls \callees, \index, \zero, \one
    pop     rbx
    ret
    .seh_endproc
    .endm

    global umbra_calibration_hooked
    eight_functions hooked_function, hooked

    .balign 16
    global umbra_calibration_plain
    eight_functions plain_function, plain

/* (function, n): function(n), from a site that is known. */
    .seh_proc umbra_calibration_call
    global umbra_calibration_call
    sub     rsp, 40
    .seh_stackalloc 40
    .seh_endprologue
    mov     rax, rcx
    mov     rcx, rdx
    call    rax
    global umbra_calibration_outermost
    add     rsp, 40
    ret
    .seh_endproc

    .section .rdata, "dr"
    .balign 4
    global umbra_calibration_sites
    all_sites umbra_calibration_sites
