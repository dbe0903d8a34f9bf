/* The functions of hooks/i386/calibration.inc, as PE has them. */
#define CALIBRATION_IMAGE _umbra_calibration_image

    .intel_syntax noprefix

    .macro hidden_object name
    .globl  _\name
_\name:
    .endm

    .macro function_begin name
\name:
    .endm

    .macro function_end name
    .endm

#include "hooks/i386/calibration.inc"

    .section .rdata, "dr"
    .balign 4
hidden_object umbra_calibration_sites
    all_sites _umbra_calibration_sites
