/* What each of sampler_calls.inc's functions does, on i386. */
#include "hooks/linux/i386/calls.inc"

#define SIGURG         23
#define PTRACE_TRACEME 0
#define SIG_BLOCK      0
#define MASK_WAS_SAVED 24
#define ACTION_WORDS   35 /* of a struct sigaction */

    /* Arguments by number, as the function is entered. */
#define ARGUMENT(number) dword ptr [esp + 4 * (number)]
#define POINTER          ARGUMENT

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

    /* \number: where the signal's is. */
    .macro handler_function name, number:vararg
    watched_function \name
    cmp     \number, SIGURG
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

    /* \mask: where the argument is that lets signals in during the call, if it is not null. */
    .macro waiting_function name, mask:vararg
    watched_function \name
    cmp     \mask, 0
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

    /* The other program begins with the mask that the program has set. */
    .macro spawning_function name
    watched_function \name
    call_before sampler_close_mask
    call_next 6
    call_behind umbra_after_spawn
    ret
    end_watched \name
    .endm

#include "hooks/linux/sampler_calls.inc"

    /* With times of 64 bits. */
    waiting_function __ppoll64, POINTER(4)
    waiting_function __pselect64, POINTER(6)
    waiting_function __epoll_pwait2_time64, POINTER(5)
    held_function __sigtimedwait64, umbra_before_wait

    .section .note.GNU-stack, "", @progbits
