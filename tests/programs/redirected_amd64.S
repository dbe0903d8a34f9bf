/*
 * Functions of one byte between functions that leave no room: nothing of them can be replaced, so
 * what leads to them is. Each is reached in one way of its own.
 */
        .macro  function name
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        .endm

        .macro  end_function name
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .macro  tiny name
        .skip   160, 0xf4       /* no hole in reach */
        .hidden \name
        function \name
        ret
        end_function \name
        .endm

        .text
        tiny    called
        tiny    jumped_to
        tiny    pointed_at
        tiny    taken
        tiny    from_prologue
        .skip   160, 0xf4
        function exported
        ret
        end_function exported
        .skip   160, 0xf4
        .long   0x12345678      /* for those who have its address */
        .hidden preceded
        function preceded
        ret
        end_function preceded
        tiny    by_short_branch
        .skip   20, 0xf4
        function branches
        test    %edi, %edi
        je      by_short_branch
        lea     1(%rdi), %eax
        mov     %eax, %eax
        ret
        end_function branches
        .skip   160, 0xf4

        .p2align 4
        function jumps
        mov     %edi, %eax
        add     $1, %eax
        sub     $1, %eax
        jmp     jumped_to
        end_function jumps

        .p2align 4
        function begins_with_jump       /* the jump moves with the prologue */
        jmp     from_prologue
        end_function begins_with_jump

        .section .note.GNU-stack, "", @progbits
