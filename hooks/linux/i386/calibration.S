/*
 * Functions that call each other at random, patched by hand as image_manifest.h has it, and the same ones as they
 * are: what x86_64/calibration.inc tells of. n is in ecx, and in ebx, with two bits of chance above it.
 */
    .intel_syntax noprefix

#define ENTRY_HOOK 8 /* of struct image_header */

    .macro hidden_object name
    .globl  \name
    .hidden \name
\name:
    .endm

    /* Marks where the call before it returns to. */
    .macro site name, index, number
.Lsite_\name\()_\number\()_\index:
    .endm

    /* Distances to symbols of other sections can be written in this syntax alone. */
    .macro near_word instruction:vararg
    .att_syntax prefix
    \instruction
    .intel_syntax noprefix
    .endm

    .macro two_calls name, index, zero, one
    push    ebx
    .cfi_adjust_cfa_offset 4
    .cfi_rel_offset ebx, 0
    mov     ebx, ecx
    cmp     ecx, 2
    jl      9f
    call    7f
7:  pop     edx
    near_word imul $1664525, seed - 7b(%edx), %eax
    add     eax, 1013904223
    near_word mov %eax, seed - 7b(%edx)
    lea     ecx, [ebx - 1]
    lea     edx, [eax + eax]
    and     eax, edx                    /* a bit is set one time in four */
    and     eax, 0xc0000000
    or      ebx, eax
    test    eax, eax
    js      1f
    call    \name\()_\zero
    site    \name, \index, 0
    jmp     2f
1:  call    \name\()_\one
    site    \name, \index, 1
2:  movzx   ecx, bl
    sub     ecx, 2
    bt      ebx, 30
    jc      3f
    call    \name\()_\zero
    site    \name, \index, 2
    jmp     9f
3:  call    \name\()_\one
    site    \name, \index, 3
9:  pop     ebx
    .cfi_adjust_cfa_offset -4
    .cfi_restore ebx
    ret
    .endm

    .macro hooked_function name, index, zero, one
    .balign 16
    .type   \name\()_\index, @function
\name\()_\index:
    .cfi_startproc
    push    ecx
    .cfi_adjust_cfa_offset 4
    push    eax
    .cfi_adjust_cfa_offset 4
    call    8f
8:  pop     eax
    near_word mov umbra_calibration_image + ENTRY_HOOK - 8b(%eax), %ecx
    jecxz   1f
    near_word lea body_\index - 8b(%eax), %eax
    jmp     ecx
    .long   umbra_calibration_image - body_\index
    .long   \index
1:  pop     eax
    .cfi_adjust_cfa_offset -4
    pop     ecx
    .cfi_adjust_cfa_offset -4
    .byte   0x0f, 0x1f, 0x00            /* nop */
body_\index:
    two_calls \name, \index, \zero, \one
    .cfi_endproc
    .size   \name\()_\index, . - \name\()_\index
    .endm

    .macro plain_function name, index, zero, one
    .balign 16
    .type   \name\()_\index, @function
\name\()_\index:
    .cfi_startproc
    two_calls \name, \index, \zero, \one
    .cfi_endproc
    .size   \name\()_\index, . - \name\()_\index
    .endm

    /* function_name NAME, INDEX, ZERO, ONE for each of the eight. */
    .macro eight_functions function_name, name
    \function_name \name, 0, 0, 1
    \function_name \name, 1, 2, 3
    \function_name \name, 2, 4, 5
    \function_name \name, 3, 6, 7
    \function_name \name, 4, 0, 1
    \function_name \name, 5, 2, 3
    \function_name \name, 6, 4, 5
    \function_name \name, 7, 6, 7
    .endm

    .data
    .balign 4
seed:
    .long   42
    .text

    .balign 16
hidden_object umbra_calibration_hooked
    eight_functions hooked_function, hooked

    .balign 16
hidden_object umbra_calibration_plain
    eight_functions plain_function, plain

/* (function, n), of two words: function(n), from a site that is known. */
    .type   umbra_calibration_call, @function
hidden_object umbra_calibration_call
    .cfi_startproc
    mov     eax, [esp + 4]
    mov     ecx, [esp + 8]
    call    eax
hidden_object umbra_calibration_outermost
    ret
    .cfi_endproc
    .size   umbra_calibration_call, . - umbra_calibration_call

    .section .rodata
    .balign 4
hidden_object umbra_calibration_sites
    .irp index, 0, 1, 2, 3, 4, 5, 6, 7
    .long   .Lsite_hooked_0_\index - umbra_calibration_sites
    .long   .Lsite_hooked_1_\index - umbra_calibration_sites
    .long   .Lsite_hooked_2_\index - umbra_calibration_sites
    .long   .Lsite_hooked_3_\index - umbra_calibration_sites
    .endr

    .section .note.GNU-stack, "", @progbits
