/*
 * Code as GHC makes it: a table in front of each entry, entries that are jumped to, a stack of its
 * own in rbp, results in rbx, and words in [rsp] that are no return addresses. In plain, C calls C.
 */
        .set    closures, 32

        .macro  table
        .p2align 3
        .quad   0
        .long   14, 0           /* a function, without a table of static references */
        .endm

        .text
        .globl  run
        .type   run, @function
run:    .cfi_startproc          /* (code, stack): what rbx is in the end */
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        push    %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        sub     $24, %rsp
        .cfi_adjust_cfa_offset 24
        movl    $4711, (%rsp)
        movl    $0, 4(%rsp)
        mov     %rsi, %rbp
        lea     back(%rip), %rax
        mov     %rax, (%rbp)
        xor     %ebx, %ebx
        jmp     *%rdi
        .cfi_endproc
        .size   run, . - run

        .type   back, @function
back:   cmpq    $4711, (%rsp)   /* what is spilled there stays */
        jne     1f
        mov     %rbx, %rax
        add     $24, %rsp
        pop     %rbx
        pop     %rbp
        ret
1:      ud2
        .size   back, . - back

        .macro  counts
        table
        .type   counts_\@_info, @function
counts_\@_info:
        add     $1, %rbx
        lea     1(%rbx), %rbx
        jmp     *(%rbp)
        .size   counts_\@_info, . - counts_\@_info
        .section .data.rel.ro, "aw"
        .quad   counts_\@_info
        .text
        .endm

        .rept   closures
        counts
        .endr

        table
        .type   stg_tiny_info, @function        /* nothing of it can be overwritten */
stg_tiny_info:
        jmp     *(%rbp)
        .size   stg_tiny_info, . - stg_tiny_info

        table
        .globl  jumps_info
        .type   jumps_info, @function
jumps_info:
        add     $40, %rbx
        jmp     continued
        .size   jumps_info, . - jumps_info

        .type   continued, @function            /* without a table */
continued:
        add     $2, %rbx
        nopl    0(%rax)
        jmp     *(%rbp)
        .size   continued, . - continued

        .section .data.rel.ro, "aw"
        .quad   stg_tiny_info
        .quad   jumps_info
        .globl  entries_end
entries_end:
        .globl  entries_count
entries_count:
        .quad   closures + 2

        .section .note.GNU-stack, "", @progbits
