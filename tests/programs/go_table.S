/* The table by which Go's runtime walks stacks, of one function, as Go 1.20 and later write it; and,
   unless ALONE is defined, the word by which the runtime finds it. See rewriter/format/go_table.h. */
        .data
        .balign 32
table:
        .long   0xfffffff1
        .byte   0, 0, 1, 8
        .quad   1, 1, 0
        .quad   names - table, units - table, files - table, values - table, functions - table
names:
        .asciz  "main.main"
        .balign 8
units:
        .quad   0
files:
        .asciz  "main.go"
        .balign 8
values:
        .quad   0
        .balign 32
functions:
        .long   0, 12, 64
        .long   0, 0, 0, 0
#ifndef ALONE
        .balign 8
module:
        .quad   table
#endif
#ifdef __ELF__
        .section .note.GNU-stack, "", @progbits
#endif
