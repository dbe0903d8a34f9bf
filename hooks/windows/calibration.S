/*
 * A function that calls itself as fib does, patched by hand as image_manifest.h has it, and the
 * same one as it is. fib(n): two calls for each n above 1.
 */
#include "trace/image_offsets.h"

    .intel_syntax noprefix
    .text

    .macro global name
    .globl  \name
\name:
    .endm

/* What follows the prologue, with call sites \name_first and \name_second; rcx is n. */
    .macro fib name, callee
    mov     rbx, rcx
    cmp     rcx, 2
    jl      1f
    lea     rcx, [rbx - 1]
    call    \callee
    global \name\()_first
    lea     rcx, [rbx - 2]
    call    \callee
    global \name\()_second
1:  pop     rbx
    ret
    .endm

    .seh_proc umbra_calibration_hooked
    global umbra_calibration_hooked
    .seh_endprologue
    mov     [rsp - 24], rcx
    mov     rcx, [rip + umbra_calibration_image + IMAGE_ENTRY_HOOK]
    jrcxz   1f
    mov     [rsp - 16], rax
    lea     rax, [rip + hooked_body]
    jmp     rcx
    .long   umbra_calibration_image - hooked_body
    .long   0
1:  mov     rcx, [rsp - 24]
    .seh_endproc
    .seh_proc hooked_body
hooked_body:
    push    rbx
    .seh_pushreg rbx
    .seh_endprologue
    fib umbra_calibration, umbra_calibration_hooked
    .seh_endproc

    .balign 16
    .seh_proc umbra_calibration_plain
    global umbra_calibration_plain
    push    rbx
    .seh_pushreg rbx
    .seh_endprologue
    fib umbra_calibration_plain, umbra_calibration_plain
    .seh_endproc

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
