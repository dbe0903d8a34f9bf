/* Functions that go on in the middle of leaves, as libcrypto's `endbr64; jmp f + 4`. */
        .macro  function name
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        endbr64
        .endm

        .macro  end_function name
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .text
        function leaf
in_leaf:
        lea     1(%rdi), %eax
        imul    $3, %eax, %eax
deep_in_leaf:
        add     $1, %eax
        ret
        end_function leaf

        function joins
        jmp     in_leaf
        end_function joins

        function joins_at_times
        xor     %eax, %eax
        test    $1, %edi
        jne     in_leaf
        ret
        end_function joins_at_times

        function joins_deeper
        mov     %edi, %eax
        jmp     deep_in_leaf
        end_function joins_deeper

        .section .note.GNU-stack, "", @progbits
