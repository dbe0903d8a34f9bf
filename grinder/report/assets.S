/* The page's own files, each with a zero behind it. */
    .macro asset name, file
    .globl \name
    .type \name, @object
\name:
    .incbin "\file"
    .byte 0
    .size \name, . - \name
    .endm

    .section .rodata
    asset report_html, "grinder/report/report.html"
    asset report_css, "grinder/report/report.css"

    .globl report_js
    .type report_js, @object
report_js:
    .incbin "grinder/report/model.js"
    .incbin "grinder/report/figures.js"
    .incbin "grinder/report/virtual.js"
    .incbin "grinder/report/code.js"
    .incbin "grinder/report/graph.js"
    .incbin "grinder/report/views.js"
    .incbin "grinder/report/keys.js"
    .byte 0
    .size report_js, . - report_js
    .section .note.GNU-stack, "", @progbits
