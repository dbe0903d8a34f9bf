/* Functions of the C library's that a dynamic program finds in the agent first: sampler_calls.h. */
#include "hooks/linux/calls.inc"

#define SIGURG 23

    .macro watched_function name, watch
    exported_function \name
    .cfi_startproc
    call_before \watch
    go_to_next \name, 2f
2:  mov     rax, -1
    ret
    .cfi_endproc
    .size   \name, . - \name
    .endm

    /* Only where the first argument is the sampler's signal. */
    .macro signal_function name
    exported_function \name
    .cfi_startproc
    cmp     edi, SIGURG
    jne     3f
    call_before umbra_before_handler
3:  go_to_next \name, 2f
2:  mov     rax, -1
    ret
    .cfi_endproc
    .size   \name, . - \name
    .endm

    signal_function signal
    signal_function bsd_signal
    signal_function sysv_signal
    signal_function __sysv_signal
    signal_function ssignal
    signal_function sigset
    signal_function sigignore
    signal_function siginterrupt

    exported_function sigaction
    .cfi_startproc
    cmp     edi, SIGURG
    jne     4f
    call_before umbra_before_sigaction
    test    r11, r11
    jz      4f
    xor     eax, eax                        /* answered */
    ret
4:  go_to_next sigaction, 5f
5:  mov     rax, -1
    ret
    .cfi_endproc
    .size   sigaction, . - sigaction

    watched_function sigprocmask, umbra_before_mask
    watched_function pthread_sigmask, umbra_before_mask
    watched_function sigwait, umbra_before_wait
    watched_function sigwaitinfo, umbra_before_wait
    watched_function sigtimedwait, umbra_before_wait
    watched_function sigpending, umbra_before_pending
    watched_function signalfd, umbra_before_signalfd
    watched_function sigaltstack, umbra_before_stack

    .section .note.GNU-stack, "", @progbits
