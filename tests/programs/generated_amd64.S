/*
 * What V8's builtins look like: frames set up by a load, no frame descriptions, calls of each other
 * and of C. long generated(long (*function)(long), long argument, void ***exit_frame) has an inner
 * builtin call function(argument), after it stored where its stack ends in *exit_frame:
 *
 *      exit_frame[-1]  return address of `function`: generated_inner_return
 *      exit_frame[0]   rbp of the outer builtin's frame
 *      exit_frame[1]   return address of the inner builtin: generated_outer_return
 */
        .macro  set_up_frame
        push    %rbp
        .byte   0x48, 0x8b, 0xec        /* mov %rsp, %rbp */
        .endm

        .macro  place name
        .globl  \name
\name:
        .endm

        .text
        .p2align 12
        place generated_start
        .type   inner, @function
inner:  set_up_frame
        mov     %rsp, (%rdx)
        mov     %rdi, %rax
        mov     %rsi, %rdi
        call    *%rax
        place generated_inner_return
        pop     %rbp
        ret

        .p2align 5, 0xcc
        .type   generated, @function
        place generated
        set_up_frame
        call    inner
        place generated_outer_return
        pop     %rbp
        ret

        .rept   8                       /* more of the kind */
        .p2align 5, 0xcc
        set_up_frame
        call    inner
        pop     %rbp
        ret
        .endr
        place generated_end
        .p2align 12, 0xcc

        .section .note.GNU-stack, "", @progbits
