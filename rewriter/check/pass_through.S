/* An agent that records nothing: goes on to the body with rax restored. See image_manifest.h. */
    .text
    .globl umbra_enter
    .type umbra_enter, @function
umbra_enter:
    .cfi_startproc
    mov %rax, -24(%rsp)
    mov -16(%rsp), %rax
    jmp *-24(%rsp)
    .cfi_endproc
    .size umbra_enter, .-umbra_enter

    .section .note.GNU-stack, "", @progbits
