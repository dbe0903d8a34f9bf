/*
 * Entry and exit of every recorded call on i386.
 *
 *      caller:    call function                 esp = S, [S] = return address R
 *      function:  jmp  stub
 *      stub:      push ecx
 *                 push eax
 *                 ecx = hook word, eax = body   0: on to the body
 *                 jmp  ecx              ->  umbra_record_…: note the call; eax = the thunk, or `off`
 *      thunk:     pop  eax
 *                 pop  ecx
 *                 call [record.body]            [S] = T, esp = S
 *      body:      … ret                         esp = S + 4
 *      T:         push [record.ret]             [S] = R, esp = S
 *                 push eax
 *                 …                     ->  umbra_exit_…: note the end; ret
 *
 * `off`, 5 bytes before the body, is where a stub goes on of which nothing is recorded. There is no red
 * zone, so all that is kept is pushed. C keeps ebx, esi, edi and ebp; it is compiled without the x87 and
 * vector registers, in which results may be.
 *
 * What is usual is hooks/fast_paths.h, all else hooks/slow_paths.c.
 */
    .intel_syntax noprefix
    .text

    .macro hidden_function name
    .balign 16
    .globl  \name
    .hidden \name
    .type   \name, @function
\name:
    .endm

    .macro push_register register
    push    \register
    .cfi_adjust_cfa_offset 4
    .endm

    .macro pop_register register
    pop     \register
    .cfi_adjust_cfa_offset -4
    .endm

    .macro push_flags
    pushfd
    .cfi_adjust_cfa_offset 4
    cld
    .endm

    .macro pop_flags
    popfd
    .cfi_adjust_cfa_offset -4
    .endm

/* Not recording yet: on to the body. */
    hidden_function umbra_pass
    .cfi_startproc
    .cfi_adjust_cfa_offset 8
    lea     eax, [eax - 5]
    jmp     eax
    .cfi_endproc
    .size   umbra_pass, . - umbra_pass

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
    push_flags
    push_register edx
    push_register eax
    mov     ecx, eax
    call    umbra_hook_of_call
    mov     ecx, eax
    pop_register eax
    pop_register edx
    pop_flags
    jmp     ecx
    .cfi_endproc
    .size   umbra_enter_13, . - umbra_enter_13

/* A call while recording: C says where it goes on. */
    .macro entry_hook name, entry
    hidden_function \name
    .cfi_startproc
    .cfi_adjust_cfa_offset 8
    push_flags
    push_register edx
    lea     ecx, [esp + 16]
    mov     edx, eax
    call    \entry
    pop_register edx
    pop_flags
    jmp     eax
    .cfi_endproc
    .size   \name, . - \name
    .endm

    entry_hook umbra_record_exact, umbra_entry_exact
    entry_hook umbra_record_adaptive, umbra_entry_adaptive
    entry_hook umbra_record_events, umbra_entry_slow
    /* Of images over whose hook word the trace could not be mapped (hook_word.h): slow paths look at `paused`. */
    entry_hook umbra_record_unless_paused, umbra_entry_slow

/* A recorded call has returned: eax = its record, the program's eax on the stack. */
    .macro exit_hook name, end
    hidden_function \name
    .cfi_startproc
    .cfi_adjust_cfa_offset 4
    push_register ecx
    push_flags
    push_register edx
    mov     ecx, eax
    lea     edx, [esp + 16]
    call    \end
    pop_register edx
    pop_flags
    pop_register ecx
    pop_register eax
    ret
    .cfi_endproc
    .size   \name, . - \name
    .endm

    exit_hook umbra_exit_exact, umbra_end_exact
    exit_hook umbra_exit_adaptive, umbra_end_adaptive
    exit_hook umbra_exit_events, umbra_end_slow

/* Threads that exit() has cut off return here. */
    hidden_function umbra_exit_uncounted
    .cfi_startproc
    .cfi_adjust_cfa_offset 4
    pop_register eax
    ret
    .cfi_endproc
    .size   umbra_exit_uncounted, . - umbra_exit_uncounted

    .section .note.GNU-stack, "", @progbits
