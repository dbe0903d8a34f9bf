/*
 * A function for each word of docs/list.md, named after it, '_' for '-'. Only main and
 * what it calls are ever called.
 */
        .macro  function name
        .type   \name, @function
\name:
        .cfi_startproc
        .endm

        .macro  end_function name
        .cfi_endproc
        .size   \name, . - \name
        .endm

/* What follows has no hole within the reach of a short jump: neither padding nor a function. */
        .macro  island
        .skip   160, 0xf4
        .endm

        .data
number: .long   1000

        .text
        .p2align 4
        .globl  main
        function main
        sub     $8, %rsp
        .cfi_def_cfa_offset 16
        call    inside_function
        call    redirected
        call    exit@PLT
        end_function main

        .p2align 4
        function plain
        lea     7(%rdi), %eax
        add     $1, %eax
        ret
        end_function plain

        .p2align 4
        function adjusted
        mov     number(%rip), %eax
        ret
        end_function adjusted

        .p2align 4
        function padding
        ret
        end_function padding

        .p2align 4
        function short_jump             /* only two bytes are free; behind it is padding */
        xor     %eax, %eax
1:      add     %edi, %eax
        dec     %edi
        jg      1b
        ret
        end_function short_jump
        .skip   16, 0xcc

        .p2align 4
        function fragment               /* entered with a frame */
        .cfi_def_cfa_offset 32
        add     $24, %rsp
        .cfi_def_cfa_offset 8
        ret
        end_function fragment

/* Fragments without names. Compilers align none; one of 16 is aligned by chance. */
        .p2align 4
        function of_fragments
        test    %edi, %edi
        je      1f
        jmp     aligned_fragment
1:      jmp     aligned_fragment
        end_function of_fragments
        .p2align 4
        .skip   9, 0xcc
        .cfi_startproc
        push    %rax
        .cfi_def_cfa_offset 16
        call    exit@PLT
        ud2
        .skip   -(. - of_fragments) & 15, 0x90
        .cfi_endproc
        .cfi_startproc
aligned_fragment:
        push    %rax
        .cfi_def_cfa_offset 16
        call    exit@PLT
        .cfi_endproc
        .cfi_startproc
        push    %rax
        .cfi_def_cfa_offset 16
        call    exit@PLT
        .cfi_endproc

        .p2align 4
        function signal_frame
        .cfi_signal_frame
        mov     $15, %eax
        syscall
        end_function signal_frame

        .p2align 4
        function return_address
        mov     (%rsp), %rax
        ret
        end_function return_address

        .p2align 4
        function setjmp                 /* returns-twice: known by its name */
        xor     %eax, %eax
        lea     1(%rax), %eax
        ret
        end_function setjmp

        .p2align 4
        function _Unwind_RaiseException /* unwinder: known by its name */
        mov     $3, %eax
        ret
        end_function _Unwind_RaiseException

        .p2align 4
        function around
        xor     %eax, %eax
        nopw    0(%rax, %rax)
inside_function:
        xor     %edi, %edi
        ret
        end_function around

        .p2align 4
        function excluded
        lea     7(%rdi), %eax
        add     $2, %eax
        ret
        end_function excluded

        island
        function redirected             /* as too_short, but its caller is known */
        ret
        end_function redirected

        island
        function too_short
        ret
        end_function too_short

        island
        function branch_target          /* the third byte is one */
        xor     %eax, %eax
1:      add     %edi, %eax
        dec     %edi
        jg      1b
        ret
        end_function branch_target

        island
        function loop_at_entry
        sub     $1, %edi
        cmp     $3, %edi
        jg      loop_at_entry
        ret
        end_function loop_at_entry

        island
        function call_in_patch
        push    %rax
        .cfi_def_cfa_offset 16
        call    *%rdi
        pop     %rcx
        .cfi_def_cfa_offset 8
        ret
        end_function call_in_patch

        island
        function unmovable
        xbegin  1f
        xend
1:      ret
        end_function unmovable

        island
/* Tables within functions, before the places to return to, as Haskell's compiler has them. */
        .macro  table
        .quad   0, 0x1e
        .endm
        .p2align 4
        function with_table
        lea     7(%rdi), %eax
        add     $3, %eax
        ret
        table
        add     $4, %eax
        call    in_no_function
        ret
        end_function with_table

        .p2align 4
        function with_table_and_branch  /* from behind it into the bytes of the patch */
        nop
1:      lea     7(%rdi), %eax
        add     $3, %eax
        ret
        table
        jmp     1b
        end_function with_table_and_branch
        island
        function with_table_like_a_loop
1:      lea     7(%rdi), %eax
        add     $3, %eax
        ret
        table
        jmp     1b
        end_function with_table_like_a_loop

        island
in_no_function:
        lea     7(%rdi), %eax
        ret
        island

        function undecodable
        .byte   0x06, 0x06, 0x06, 0x06, 0x06, 0x06
        end_function undecodable
        island

        .p2align 12
        .type   generated, @function    /* no frame description, and a load sets up each frame */
generated:
        .rept   8
        push    %rbp
        .byte   0x48, 0x8b, 0xec        /* mov %rsp, %rbp */
        pop     %rbp
        .endr
        ret
        .size   generated, . - generated

        function generated_entry        /* among them, and described */
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        mov     %rsp, %rbp
        call    plain
        pop     %rbp
        .cfi_adjust_cfa_offset -8
        ret
        end_function generated_entry
        .p2align 12

camlReasons__code_begin:                /* as OCaml marks its code */
        .type   frame_table, @function
frame_table:
        mov     $1, %eax
        ret
        .size   frame_table, . - frame_table
camlReasons__code_end:

        .section .note.GNU-stack, "", @progbits
