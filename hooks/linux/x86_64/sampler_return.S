/* Where the kernel has the sampler's handler return to: unwinders know these instructions. */
#include <sys/syscall.h>

    .intel_syntax noprefix
    .text
    .balign 16
    .globl  umbra_signal_return
    .hidden umbra_signal_return
    .type   umbra_signal_return, @function
    nop                                     /* an unwinder looks up the address before */
umbra_signal_return:
    .byte   0x48, 0xc7, 0xc0, SYS_rt_sigreturn, 0, 0, 0 /* mov rax, …, as the C library has it */
    syscall
    .size   umbra_signal_return, . - umbra_signal_return

    .section .note.GNU-stack, "", @progbits
