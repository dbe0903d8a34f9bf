/* The hooks of i386, hooks/i386/entry.inc, as ELF has them. */
#include "hooks/offsets_i386.h"

    .intel_syntax noprefix
    .text

    .macro hidden_function name
    .balign 16
    .globl  \name
    .hidden \name
    .type   \name, @function
\name:
    .endm

    .macro function_end name
    .size   \name, . - \name
    .endm

    /* edi: the calling thread's state, or to \none. */
    .macro current_thread none
    call    9f
9:  pop     edi
    .att_syntax prefix                      /* the one that all assemblers read this in */
8:  add     $_GLOBAL_OFFSET_TABLE_+(8b-9b), %edi
    .intel_syntax noprefix
    mov     edi, [edi + umbra_thread@gotntpoff]
    mov     edi, gs:[edi]
    test    edi, edi
    jz      \none
    .endm

    /* The hook word is 0 then. */
    .macro go_on_if_paused
    .endm

#include "hooks/i386/entry.inc"

/* First call into an image since it was loaded: the entry hook as the dynamic linker binds it. */
    .balign 16
    .globl  umbra_enter_13
    .type   umbra_enter_13, @function
umbra_enter_13:
    .globl  umbra_enter
    .hidden umbra_enter
umbra_enter:                                /* the same, for the agent itself */
    .cfi_startproc
    .cfi_adjust_cfa_offset 8
    first_call
    .cfi_endproc
    function_end umbra_enter_13

/* Of images over whose hook word the trace could not be mapped (hook_word.h): slow paths look at `paused`. */
    entry_hook_in_c umbra_record_unless_paused

/* Threads that exit() has cut off return here. */
    hidden_function umbra_exit_uncounted
    .cfi_startproc
    .cfi_adjust_cfa_offset 4
    pop_register eax
    ret
    .cfi_endproc
    function_end umbra_exit_uncounted

    .section .note.GNU-stack, "", @progbits
