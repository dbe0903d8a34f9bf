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
 * Each call is a slow path (hooks/slow_paths.c), which knows all modes.
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

/* The hook of all calls that are recorded. */
    hidden_function umbra_record_exact
    .globl  umbra_record_adaptive, umbra_record_events, umbra_record_unless_paused
    .hidden umbra_record_adaptive, umbra_record_events, umbra_record_unless_paused
umbra_record_adaptive:
umbra_record_events:
umbra_record_unless_paused:
    .cfi_startproc
    .cfi_adjust_cfa_offset 8
    push_flags
    push_register edx
    lea     ecx, [esp + 16]
    mov     edx, eax
    call    umbra_entry_of_call
    pop_register edx
    pop_flags
    jmp     eax
    .cfi_endproc
    .size   umbra_record_exact, . - umbra_record_exact

/* A recorded call has returned: eax = its record, the program's eax on the stack. */
    hidden_function umbra_exit_exact
    .globl  umbra_exit_adaptive, umbra_exit_events
    .hidden umbra_exit_adaptive, umbra_exit_events
umbra_exit_adaptive:
umbra_exit_events:
    .cfi_startproc
    .cfi_adjust_cfa_offset 4
    push_register ecx
    push_flags
    push_register edx
    mov     ecx, eax
    lea     edx, [esp + 16]
    call    umbra_exit_of_call
    pop_register edx
    pop_flags
    pop_register ecx
    pop_register eax
    ret
    .cfi_endproc
    .size   umbra_exit_exact, . - umbra_exit_exact

/* Threads that exit() has cut off return here. */
    hidden_function umbra_exit_uncounted
    .cfi_startproc
    .cfi_adjust_cfa_offset 4
    pop_register eax
    ret
    .cfi_endproc
    .size   umbra_exit_uncounted, . - umbra_exit_uncounted

    .section .note.GNU-stack, "", @progbits
