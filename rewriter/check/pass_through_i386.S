/* An agent of i386 that records nothing: goes on to the body with eax and ecx restored. See
   image_manifest.h. */
    .text
    .globl umbra_enter_13
    .type umbra_enter_13, @function
umbra_enter_13:
    .cfi_startproc
    .cfi_def_cfa_offset 12
#ifdef ENDS_THE_PROGRAM
    ud2
#endif
    xchg %eax, (%esp)
    pop %ecx
    .cfi_def_cfa_offset 8
    xchg %ecx, (%esp)
    ret
    .cfi_endproc
    .size umbra_enter_13, .-umbra_enter_13

    .section .note.GNU-stack, "", @progbits
