/* An agent that records nothing: goes on to the body with rax and rcx restored. See image_manifest.h. */
    .text
    .globl umbra_enter_13
    .type umbra_enter_13, @function
umbra_enter_13:
    .cfi_startproc
    mov %rax, -32(%rsp)
    mov -24(%rsp), %rcx
    mov -16(%rsp), %rax
    jmp *-32(%rsp)
    .cfi_endproc
    .size umbra_enter_13, .-umbra_enter_13

    .section .note.GNU-stack, "", @progbits
