/*
 * Functions whose first five bytes are not easily moved. Each takes a small positive number in edi
 * and returns one in eax; prologues.c knows them by the list at the end.
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

        .data
number:         .long   1000
zero:           .long   0
helper_address: .quad   helper

        .text
        .p2align 4
        function helper
        lea     7(%rdi), %eax
        ret
        end_function helper

        .p2align 4
        function rip_relative_load
        mov     number(%rip), %eax
        add     %edi, %eax
        ret
        end_function rip_relative_load

        .p2align 4
        function rip_relative_address
        lea     number(%rip), %rax
        mov     (%rax), %eax
        sub     %edi, %eax
        ret
        end_function rip_relative_address

        .p2align 4
        function rip_relative_compare   /* operand and immediate: the immediate counts too */
        cmpl    $1234567, number(%rip)
        sete    %al
        movzbl  %al, %eax
        add     %edi, %eax
        ret
        end_function rip_relative_compare

        .p2align 4
        function call_first
        call    helper
        add     $1, %eax
        ret
        end_function call_first

        .p2align 4
        function call_indirect_first
        call    *helper_address(%rip)
        add     $2, %eax
        ret
        end_function call_indirect_first

        .p2align 4
        function jump_first
        jmp     helper
        end_function jump_first

        .p2align 4
        function jump_indirect_first
        jmp     *helper_address(%rip)
        end_function jump_indirect_first

        .p2align 4
        function jump_short_first
        jmp     1f
        ud2
        ud2
1:      lea     3(%rdi), %eax
        ret
        end_function jump_short_first

        .p2align 4
        function branch_short
        test    %edi, %edi
        je      1f
        lea     1(%rdi), %eax
        ret
1:      mov     $55, %eax
        ret
        end_function branch_short

        .p2align 4
        function branch_long
        test    $1, %dil
        .byte   0x0f, 0x85              /* jne, four-byte displacement */
        .long   1f - . - 4
        mov     $66, %eax
        ret
        .skip   200, 0x90
1:      lea     5(%rdi), %eax
        ret
        end_function branch_long

        .p2align 4
        function jrcxz_early            /* has no long form */
        mov     %edi, %ecx
        jrcxz   1f
        lea     2(%rcx), %eax
        ret
1:      mov     $77, %eax
        ret
        end_function jrcxz_early

        .p2align 4
        function loop_early             /* no long form; target: the instruction before */
        lea     1(%rdi), %ecx
        loop    .
        mov     %ecx, %eax
        ret
        end_function loop_early

        .p2align 4
        function endbr_first
        endbr64
        lea     9(%rdi), %eax
        ret
        end_function endbr_first

        .p2align 4
        function endbr_then_return
        endbr64
        ret
        end_function endbr_then_return

        .p2align 4
        function return_padded          /* eax is what the caller left there */
        ret
        end_function return_padded

        .p2align 4
        function return_tight           /* the next function follows at once */
        ret
        end_function return_tight
        function after_return_tight
        lea     4(%rdi), %eax
        ret
        end_function after_return_tight

        .p2align 4
        function loop_to_entry          /* each round looks like an entry, and is none */
        sub     $1, %edi
        cmp     $3, %edi
        jg      loop_to_entry
        mov     %edi, %eax
        ret
        end_function loop_to_entry

        .p2align 4
        function branch_into_start      /* its target is the third byte */
        xor     %eax, %eax
1:      add     %edi, %eax
        dec     %edi
        jg      1b
        ret
        end_function branch_into_start

        .p2align 4
        function reads_return_address   /* how far behind the call are we? */
        mov     (%rsp), %rax
        lea     return_address_base(%rip), %rdx
        sub     %rdx, %rax
        ret
        end_function reads_return_address

        .p2align 4
        function calls_reader
        call    reads_return_address
return_address_base:
        add     %edi, %eax
        ret
        end_function calls_reader

        .p2align 4
        function push_first
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        sub     $16, %rsp
        mov     %edi, -4(%rbp)
        mov     -4(%rbp), %eax
        leave
        .cfi_def_cfa rsp, 8
        ret
        end_function push_first

        .section .note.GNU-stack, "", @progbits
