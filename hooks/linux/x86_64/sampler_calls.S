/* What each of sampler_calls.inc's functions does, on x86-64. */
#include "hooks/linux/x86_64/calls.inc"

#define ARGUMENT(number) ARGUMENT_##number
#define ARGUMENT_1 edi
#define ARGUMENT_2 esi
#define ARGUMENT_3 edx
#define POINTER(number) POINTER_##number
#define POINTER_4 rcx
#define POINTER_5 r8
#define POINTER_6 r9

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
    .macro handler_function name, number:vararg
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
    .macro waiting_function name, mask:vararg
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

#include "hooks/linux/sampler_calls.inc"

    .section .note.GNU-stack, "", @progbits
