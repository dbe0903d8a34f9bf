/*
 * What V8's builtins look like in a Windows program: one unwind information for all, which says of
 * each what only some do; an entry that begins in the padding before a block without a frame.
 * long generated(long (*function)(long), long argument, void ***exit_frame) as in
 * ../generated_amd64.S, with room for four arguments below a frame:
 *
 *      exit_frame[-1]  return address of `function`: generated_inner_return
 *      exit_frame[4]   rbp of the outer builtin's frame
 *      exit_frame[5]   return address of the inner builtin: generated_outer_return
 */
        .macro  place name
        .globl  \name
\name:
        .endm

        /* A block up to \name_behind, and so many bytes before it. */
        .macro  block name, before
        .section .pdata, "dr"
        .rva    \name - \before, \name\()_behind, unwind
        .text
        .endm

        .macro  set_up_frame
        push    %rbp
        mov     %rsp, %rbp
        sub     $32, %rsp
        .endm

        .section .xdata, "dr"
        .p2align 2
unwind: .byte   1 | 1 << 3, 4, 2, 5     /* a handler; 4 bytes, 2 codes, rbp */
        .byte   4, 3, 1, 5 << 4         /* mov rbp, rsp; push rbp */
        .rva    handler

        .text
        .p2align 5, 0xcc
handler:
        int3

        .p2align 5, 0xcc
        place generated_start
inner:  block   inner, 0
        set_up_frame
        mov     %rsp, (%r8)
        mov     %rcx, %rax
        mov     %rdx, %rcx
        call    *%rax
        place generated_inner_return
        leave
        ret
inner_behind:

        .p2align 5, 0xcc
        .fill   4, 1, 0xcc
        place generated
        block   generated, 4
        mov     %rbp, %r9               /* 4 bytes that are in the way of a jump before them */
        jmp     outer
generated_behind:

        .p2align 5, 0xcc
outer:  block   outer, 0
        set_up_frame
        call    inner
        place generated_outer_return
        leave
        ret
outer_behind:

        .rept   8                       /* more of the kind */
        .p2align 5, 0xcc
        .fill   4, 1, 0xcc
0:      .section .pdata, "dr"
        .rva    0b - 4, 1f, unwind
        .text
        mov     %rbp, %r9
        jmp     outer
1:
        .endr
        place generated_end
        .p2align 5, 0xcc
