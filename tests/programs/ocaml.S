/* Memory as code by OCaml's compiler takes it: rewriter/format/ocaml_code.h. */
        .text
        .rept   16
        sub     $24, %r15
        cmp     (%r14), %r15
        jb      collect
        lea     8(%r15), %rax
        ret
        .endr
collect:
        ret
#ifdef __ELF__
        .section .note.GNU-stack, "", @progbits
#endif
