/*
 * The agent's sigaction and signal, which a dynamic program finds before the C library's: a program that
 * wants a handler of its own for the sampler's signal gets that signal for itself (sampler.h).
 */
#include "hooks/linux/calls.inc"

#define SIGURG 23

    /* \is_asked: jumps to 2f where the program only asks what is there. */
    .macro signal_function name, is_asked
    exported_function \name
    .cfi_startproc
    cmp     edi, SIGURG
    jne     2f
    .ifnb   \is_asked
    test    rsi, rsi
    jz      2f
    .endif
    call_before sampler_give_up
2:  go_to_next \name, 3f
3:  mov     rax, -1
    ret
    .cfi_endproc
    .size   \name, . - \name
    .endm

    signal_function sigaction, is_asked
    signal_function signal

    .section .note.GNU-stack, "", @progbits
