/*
 * The hooks of i386, hooks/i386/entry.inc, as Windows has them. Nothing is kept below the stack pointer, so whoever stops
 * a thread may use what is there.
 */
#include "hooks/offsets.h"

    .intel_syntax noprefix
    .text

    .macro hidden_function name
    .balign 16
    .globl  _\name
_\name:
    .endm

    .macro function_end name
    .endm

    /* edi: the calling thread's state, or to \none. */
    .macro current_thread none
    mov     edi, [_umbra_thread_slot]
    mov     edi, fs:[edi]
    test    edi, edi
    jz      \none
    .endm

    .macro go_on_if_paused
    mov     eax, [edi + THREAD_TRACE]
    cmp     dword ptr [eax + TRACE_PAUSED], 0
    jne     paused
    .endm

#include "hooks/i386/entry.inc"

paused:                                     /* by the service: to `off` */
    .cfi_startproc
    .cfi_adjust_cfa_offset 28
    sub     ecx, 5
    restore_flags_and_work_registers
    jmp     ecx
    .cfi_endproc

/* First call into an image since it was loaded: the entry hook as the loader binds it. */
    hidden_function umbra_enter_13
    .cfi_startproc
    .cfi_adjust_cfa_offset 8
    mov     ecx, [_umbra_ready]
    jecxz   _umbra_pass_at_first
    first_call
    .cfi_endproc

/* The agent itself is not set up yet. */
    hidden_function umbra_pass_at_first
    lea     eax, [eax - 5]
    jmp     eax
