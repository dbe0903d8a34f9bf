/* The page (assemble.py), with a zero behind it. */
    .section .rodata
    .globl report_page
    .type report_page, @object
report_page:
    .incbin REPORT_PAGE
    .byte 0
    .size report_page, . - report_page
    .section .note.GNU-stack, "", @progbits
