/*
 * An empty instrumented function, patched by hand as image_manifest.h has it, and a loop that
 * calls it or its body.
 */
#include "trace/image_offsets.h"

    .intel_syntax noprefix
    .text
    .globl  umbra_calibration_function, umbra_calibration_body, umbra_calibration_loop
    .globl  umbra_calibration_site
    .hidden umbra_calibration_function, umbra_calibration_body, umbra_calibration_loop
    .hidden umbra_calibration_site
    .type   umbra_calibration_function, @function
    .type   umbra_calibration_loop, @function

umbra_calibration_function:
    .cfi_startproc
    mov     [rsp - 16], rax
    lea     rax, [rip + umbra_calibration_body]
    jmp     [rip + umbra_calibration_image + IMAGE_ENTRY_HOOK]
    .long   umbra_calibration_image - umbra_calibration_body
    .long   0
umbra_calibration_body:
    ret
    .cfi_endproc
    .size   umbra_calibration_function, . - umbra_calibration_function

/* (count, function): calls the function count times, always from the same site. */
umbra_calibration_loop:
    .cfi_startproc
    push    rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    push    rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbp, 0
    mov     rbx, rdi
    mov     rbp, rsi
1:  call    rbp
umbra_calibration_site:
    dec     rbx
    jnz     1b
    pop     rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbp
    pop     rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbx
    ret
    .cfi_endproc
    .size   umbra_calibration_loop, . - umbra_calibration_loop

    .section .note.GNU-stack, "", @progbits
