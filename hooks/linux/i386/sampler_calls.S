/* Functions that would show a program the sampler's signal: x86_64/sampler_calls.S tells which, and why. */
#include "hooks/linux/i386/calls.inc"

#define SIGURG         23
#define PTRACE_TRACEME 0
#define SIG_BLOCK      0
#define MASK_WAS_SAVED 24
#define ACTION_WORDS   35 /* of a struct sigaction */

    /* Arguments by number, as the function is entered. */
#define ARGUMENT(number) dword ptr [esp + 4 * (number)]

    .macro watched_function name
    exported_function \name
    .cfi_startproc
    .endm

    .macro end_watched name
2:  go_to_next \name, 3f
3:  mov     eax, -1
    ret
    .cfi_endproc
    .size   \name, . - \name
    .endm

    /* Calls the C library's function with copies of \count arguments. eax: what it returns. */
    .macro call_next count
    .set    pushed, 0
    .rept   \count
    push    [esp + 4 * \count]
    .cfi_adjust_cfa_offset 4
    .endr
    call    2f
    drop_arguments \count
    .endm

    /* Calls C with eax kept. */
    .macro call_behind function
    push    eax
    .cfi_adjust_cfa_offset 4
    call    \function
    pop     eax
    .cfi_adjust_cfa_offset -4
    .endm

    /* number: of the argument that is the signal's. */
    .macro handler_function name, number=1
    watched_function \name
    cmp     ARGUMENT(\number), SIGURG
    jne     2f
    call_before sampler_give_up
    end_watched \name
    .endm

    .macro action_function name
    watched_function \name
    cmp     ARGUMENT(1), SIGURG
    jne     2f
    cmp     ARGUMENT(2), 0
    jne     5f
    cmp     ARGUMENT(3), 0
    je      2f
    call_before umbra_is_sampler_action
    test    al, al
    jz      2f
    mov     edx, edi
    mov     edi, ARGUMENT(3)                /* SIG_DFL, no flags, an empty mask */
    mov     ecx, ACTION_WORDS
    xor     eax, eax
    rep stosd
    mov     edi, edx
    ret
5:  call_before sampler_give_up
    end_watched \name
    .endm

    /* int how, const sigset_t *set, sigset_t *old */
    .macro mask_function name
    watched_function \name
    cmp     ARGUMENT(2), 0
    je      4f
    cmp     ARGUMENT(1), SIG_BLOCK
    je      4f
    call_before umbra_before_mask
4:  call_next 3
    test    eax, eax
    jnz     5f
    call_before umbra_after_mask
    xor     eax, eax
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
    call_next 3
    call_behind umbra_after_hold
    ret
    end_watched \name
    .endm

    /* mask: the number of the argument that lets signals in during the call, if it is not null. */
    .macro waiting_function name, mask
    watched_function \name
    cmp     ARGUMENT(\mask), 0
    je      2f
    call_before umbra_before_look
    end_watched \name
    .endm

    /* A jmp_buf has a mask if this is not 0. */
    .macro jump_function name
    watched_function \name
    mov     eax, ARGUMENT(1)
    cmp     dword ptr [eax + MASK_WAS_SAVED], 0
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
    handler_function pthread_kill, 2
    handler_function pthread_sigqueue, 2
    handler_function tgkill, 3

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
    waiting_function ppoll, 4
    waiting_function __ppoll_chk, 4
    waiting_function __ppoll64, 4
    waiting_function pselect, 6
    waiting_function __pselect64, 6
    waiting_function epoll_pwait, 5
    waiting_function epoll_pwait2, 5
    waiting_function __epoll_pwait2_time64, 5

    held_function sigwait, umbra_before_wait
    held_function sigwaitinfo, umbra_before_wait
    held_function sigtimedwait, umbra_before_wait
    held_function __sigtimedwait64, umbra_before_wait
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
    call_next 6
    call_behind umbra_after_spawn
    ret
    end_watched \name
    .endm

    spawning_function posix_spawn
    spawning_function posix_spawnp
    spawning_function system
    spawning_function popen

    watched_function ptrace
    cmp     ARGUMENT(1), PTRACE_TRACEME
    jne     2f
    call_before sampler_give_up
    end_watched ptrace

    .section .note.GNU-stack, "", @progbits
