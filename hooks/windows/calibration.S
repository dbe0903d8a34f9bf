/*
 * An empty instrumented function, patched by hand as image_manifest.h has it, and a loop that
 * calls it or its body.
 */
#include "trace/image_offsets.h"

    .intel_syntax noprefix
    .text
    .globl  umbra_calibration_function, umbra_calibration_body, umbra_calibration_loop
    .globl  umbra_calibration_site

    .seh_proc umbra_calibration_function
umbra_calibration_function:
    .seh_endprologue
    mov     [rsp - 16], rax
    lea     rax, [rip + umbra_calibration_body]
    jmp     [rip + umbra_calibration_image + IMAGE_ENTRY_HOOK]
    .long   umbra_calibration_image - umbra_calibration_body
    .long   0
umbra_calibration_body:
    ret
    .seh_endproc

/* (count, function): calls the function count times, always from the same site. */
    .seh_proc umbra_calibration_loop
umbra_calibration_loop:
    push    rbx
    .seh_pushreg rbx
    push    rbp
    .seh_pushreg rbp
    sub     rsp, 40
    .seh_stackalloc 40
    .seh_endprologue
    mov     rbx, rcx
    mov     rbp, rdx
1:  call    rbp
umbra_calibration_site:
    dec     rbx
    jnz     1b
    add     rsp, 40
    pop     rbp
    pop     rbx
    ret
    .seh_endproc
