/* The functions of hooks/i386/calibration.inc, as ELF has them. */
#define CALIBRATION_IMAGE umbra_calibration_image

    .intel_syntax noprefix

    .macro hidden_object name
    .globl  \name
    .hidden \name
\name:
    .endm

    .macro function_begin name
    .type   \name, @function
\name:
    .endm

    .macro function_end name
    .size   \name, . - \name
    .endm

#include "hooks/i386/calibration.inc"

    .section .rodata
    .balign 4
hidden_object umbra_calibration_sites
    all_sites umbra_calibration_sites

    .section .note.GNU-stack, "", @progbits
