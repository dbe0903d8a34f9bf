/* Functions without room for a jump: `one` is called through a pointer that a relocation fills in, `two`
   by name. Ends with 107. */
    .text
    .globl main
    .type main,@function
    .p2align 4
main:
    .cfi_startproc
    pushl %ebx
    .cfi_def_cfa_offset 8
    call get
    movl %eax, %ebx
    call *(%ebx)
    addl $100, %eax
    pushl %eax
    call two
    popl %edx
    addl %edx, %eax
    popl %ebx
    ret
    .cfi_endproc
    .size main,.-main
    .type get,@function
get:
    .cfi_startproc
    call pc
    addl $table-., %eax
    ret
    .cfi_endproc
    .size get,.-get
    .type pc,@function
pc:
    .cfi_startproc
    movl (%esp),%eax
    ret
    .cfi_endproc
    .size pc,.-pc
    .type one,@function
one:
    .cfi_startproc
    xorl %eax,%eax
    ret
    .cfi_endproc
    .size one,.-one
    .type two,@function
two:
    .cfi_startproc
    pushl $7
    .cfi_def_cfa_offset 8
    popl %eax
    .cfi_def_cfa_offset 4
    ret
    .cfi_endproc
    .size two,.-two
    .data
table: .long one
    .section .note.GNU-stack,"",@progbits
