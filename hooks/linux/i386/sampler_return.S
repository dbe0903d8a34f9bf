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
    mov     eax, SYS_rt_sigreturn           /* as the C library has it */
    int     0x80
    .size   umbra_signal_return, . - umbra_signal_return

    .section .note.GNU-stack, "", @progbits
