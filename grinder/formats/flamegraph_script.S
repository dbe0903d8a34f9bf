/* flamegraph.js, with a zero behind it. */
    .section .rodata
    .globl flamegraph_script
    .type flamegraph_script, @object
flamegraph_script:
    .incbin "grinder/formats/flamegraph.js"
    .byte 0
    .size flamegraph_script, . - flamegraph_script
    .section .note.GNU-stack, "", @progbits
