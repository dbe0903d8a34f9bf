/* Functions of an assembler that says nothing of types: symbols of type 0. */
        .text
        .globl  pointed, apart, constants, behind
pointed:                                /* called through pointer_to */
        sub     $40, %rsp
        call    inner
        call    apart
        add     $40, %rsp
        add     constants(%rip), %rax
        ret

inner:  lea     1(%rcx), %rax
        mov     %rax, %rcx
        nop
        ret

        .p2align 4
apart:  lea     (%rcx, %rcx), %rax
        and     $3, %ecx
        lea     cases(%rip), %rdx
        jmp     *(%rdx, %rcx, 8)
even:   add     $100, %rax
        nop
        nop
        ret
odd:    add     $1000, %rax
        nop
        nop
        ret

        .p2align 3
constants:
        .quad   5, 6
behind:                                 /* the end of all this */
        .fill   16, 1, 0xcc

        .data
        .globl  pointer_to
        .p2align 3
pointer_to:
        .quad   pointed
        .quad   behind
cases:  .quad   even, odd, even, odd
