/*
 * Functions of the C library's that a dynamic program finds in the agent first, for they would show it the
 * sampler's signal (sampler.h):
 *
 *      handlers        a program that wants one for the signal, or sends it to a thread, gets the signal for
 *                      itself; one that asks what is there is told that there is none
 *      waits, looks    none of the sampler's is pending where the program looks; the thread's samples are
 *                      held (sampler_hold.h)
 *      masks, jumps    as the signal is unblocked, they go on; masks that block everything are opened
 *      ptrace          a tracer sees no signal
 *
 * What each does before it goes on to the C library's, sampler_calls.c says.
 */
#include "hooks/linux/x86_64/calls.inc"

#define SIGURG         23
#define PTRACE_TRACEME 0
#define SIG_BLOCK      0
#define MASK_WAS_SAVED 64
#define ACTION_WORDS   19 /* of a struct sigaction */

    .macro watched_function name
    exported_function \name
    .cfi_startproc
    .endm

    .macro end_watched name
2:  go_to_next \name, 3f
3:  mov     rax, -1
    ret
    .cfi_endproc
    .size   \name, . - \name
    .endm

    /* \number: where the signal's is. */
    .macro handler_function name, number=edi
    watched_function \name
    cmp     \number, SIGURG
    jne     2f
    call_before sampler_give_up
    end_watched \name
    .endm

    .macro action_function name
    watched_function \name
    cmp     edi, SIGURG
    jne     2f
    test    rsi, rsi
    jnz     5f
    test    rdx, rdx
    jz      2f
    call_before umbra_is_sampler_action
    test    r11b, r11b
    jz      2f
    mov     rdi, rdx                        /* SIG_DFL, no flags, an empty mask */
    mov     ecx, ACTION_WORDS
    xor     eax, eax
    rep stosq
    ret
5:  call_before sampler_give_up
    end_watched \name
    .endm

    /* int how, const sigset_t *set, sigset_t *old */
    .macro mask_function name
    watched_function \name
    test    rsi, rsi
    jz      4f
    cmp     edi, SIG_BLOCK
    je      4f
    call_before umbra_before_mask
4:  push_register rdi
    push_register rsi
    push_register rdx
    call    2f
    pop_register rdx
    pop_register rsi
    pop_register rdi
    test    eax, eax
    jnz     5f
    call_before umbra_after_mask
5:  ret
    end_watched \name
    .endm

    .macro always_watched name, function
    watched_function \name
    call_before \function
    end_watched \name
    .endm

    /* Samples may go on behind it. */
    .macro held_function name, function
    watched_function \name
    call_before \function
    push_register rdi
    call    2f
    pop_register rdi
    call_before umbra_after_hold
    ret
    end_watched \name
    .endm

    /* \mask: where the argument is that lets signals in during the call, if it is not null. */
    .macro waiting_function name, mask
    watched_function \name
    test    \mask, \mask
    jz      2f
    call_before umbra_before_look
    end_watched \name
    .endm

    /* A jmp_buf has a mask if this is not 0. */
    .macro jump_function name
    watched_function \name
    cmp     dword ptr [rdi + MASK_WAS_SAVED], 0
    je      2f
    call_before umbra_before_jump
    end_watched \name
    .endm

    action_function sigaction
    action_function __sigaction

    handler_function signal
    handler_function bsd_signal
    handler_function ssignal
    handler_function sysv_signal
    handler_function __sysv_signal
    handler_function sigset
    handler_function sigignore
    handler_function siginterrupt
    handler_function raise
    handler_function gsignal
    handler_function pthread_kill, esi
    handler_function pthread_sigqueue, esi
    handler_function tgkill, edx

    mask_function sigprocmask
    mask_function pthread_sigmask
    always_watched sigsetmask, umbra_before_sigsetmask
    always_watched sigrelse, umbra_before_sigrelse

    always_watched sigpending, umbra_before_look
    always_watched sigsuspend, umbra_before_look
    always_watched __sigsuspend, umbra_before_look
    always_watched sigpause, umbra_before_look
    always_watched __sigpause, umbra_before_look
    always_watched __xpg_sigpause, umbra_before_look
    waiting_function ppoll, rcx
    waiting_function __ppoll_chk, rcx
    waiting_function pselect, r9
    waiting_function epoll_pwait, r8
    waiting_function epoll_pwait2, r8

    held_function sigwait, umbra_before_wait
    held_function sigwaitinfo, umbra_before_wait
    held_function sigtimedwait, umbra_before_wait
    always_watched signalfd, umbra_before_signalfd

    jump_function longjmp
    jump_function _longjmp
    jump_function siglongjmp
    jump_function __longjmp_chk

    held_function sigaltstack, umbra_before_altstack /* a larger one is the thread's only afterwards */
    always_watched sigstack, umbra_before_sigstack

    always_watched execve, umbra_before_execute
    always_watched execv, umbra_before_execute
    always_watched execvp, umbra_before_execute
    always_watched execvpe, umbra_before_execute
    always_watched execl, umbra_before_execute
    always_watched execlp, umbra_before_execute
    always_watched execle, umbra_before_execute
    always_watched fexecve, umbra_before_execute
    always_watched execveat, umbra_before_execute

    /* The other program begins with the mask that the program has set. */
    .macro spawning_function name
    watched_function \name
    call_before sampler_close_mask
    push_register rdi
    call    2f
    pop_register rdi
    call_before umbra_after_spawn
    ret
    end_watched \name
    .endm

    spawning_function posix_spawn
    spawning_function posix_spawnp
    spawning_function system
    spawning_function popen

    watched_function ptrace
    cmp     edi, PTRACE_TRACEME
    jne     2f
    call_before sampler_give_up
    end_watched ptrace

    .section .note.GNU-stack, "", @progbits
