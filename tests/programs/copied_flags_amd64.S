/*
 * Hand-written functions that hand flags over: as results, through what changes none, and to what is
 * jumped to. LIBRARY: only those that another image calls.
 *
 * Each works a little, so that it is no leaf, which would return as it is.
 */
        .macro  function name, has_frame=1
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .if \has_frame
        .cfi_startproc
        .endif
        .endm

        .macro  end_function name, has_frame=1
        .if \has_frame
        .cfi_endproc
        .endif
        .size   \name, . - \name
        .endm

        .macro  work
        mov     $3, %ecx
1:      dec     %ecx
        jnz     1b
        .endm

        /* A function that leaves whether its argument is odd in a flag. */
        .macro  picks name, has_frame=1
        function \name, \has_frame
        work
        mov     %edi, %eax
        and     $1, %eax
        ret
        end_function \name, \has_frame
        .endm

        /* int NAME(int n): 1 if n is odd, as `call` has left it in a flag. */
        .macro  asks name, call:vararg
        function \name
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        \call
        mov     $0, %eax
        je      1f
        mov     $1, %eax
1:      add     $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        end_function \name
        .endm

        .text
#ifdef LIBRARY
        picks   pick_in_library, 0
        picks   pick_by_own_name
        asks    ask_by_own_name, call pick_by_own_name@PLT
        asks    ask_by_own_slot, call *pick_by_own_name@GOTPCREL(%rip)
#else
        picks   pick
        picks   pick_bare, 0
        picks   pick_at_end
        picks   pick_in_call
        picks   pick_by_pointer
        picks   pick_by_pointer_bare, 0

        function pick_by_jump
        work
        jmp     pick_at_end
        end_function pick_by_jump

        function pick_by_condition
        work
        test    %edi, %edi
        jns     pick_at_end
        neg     %edi
        jmp     pick_at_end
        end_function pick_by_condition

        function pick_by_call
        push    %rbx
        .cfi_adjust_cfa_offset 8
        call    pick_in_call
        pop     %rbx
        .cfi_adjust_cfa_offset -8
        ret
        end_function pick_by_call

        .data
        .balign 8
pointers:
        .quad   pick_by_pointer, pick_by_pointer_bare
        .text

        asks    ask, call pick
        asks    ask_bare, call pick_bare
        asks    ask_by_jump, call pick_by_jump
        asks    ask_by_condition, call pick_by_condition
        asks    ask_by_call, call pick_by_call
        asks    ask_by_pointer, call *pointers(%rip)
        asks    ask_by_pointer_bare, call *pointers+8(%rip)
        asks    ask_library, call pick_in_library@PLT
        asks    ask_library_by_slot, call *pick_in_library@GOTPCREL(%rip)

        /* Nothing in it changes a flag. */
        function keeps
        lea     1(%rdi), %edi
        call    keeps_too
        ret
        end_function keeps

        function keeps_too, 0
        lea     -1(%rdi), %edi
        ret
        end_function keeps_too, 0

        /* int ask_across(int n): asks by flags that are set in front of a call that changes none.
           */
        function ask_across
        test    $1, %edi
        call    keeps
        setne   %al
        movzbl  %al, %eax
        ret
        end_function ask_across

        /* A flag is its argument, which it has looked at elsewhere. */
        function takes
        jmp     takes_in_fact
        end_function takes

        function takes_in_call
        call    is_taken
        ret
        end_function takes_in_call

        function takes_in_fact
        setne   %al
        movzbl  %al, %eax
        work
        ret
        end_function takes_in_fact

        function is_taken
        setne   %al
        movzbl  %al, %eax
        work
        ret
        end_function is_taken

        function ask_by_argument
        test    $1, %edi
        call    takes
        ret
        end_function ask_by_argument

        function ask_by_argument_in_call
        test    $1, %edi
        call    takes_in_call
        ret
        end_function ask_by_argument_in_call

        function ask_by_jump_with_flags
        work
        test    $1, %edi
        jmp     takes
        end_function ask_by_jump_with_flags

        function ask_by_condition_with_flags
        work
        xor     %eax, %eax
        test    $1, %edi
        jne     takes
        ret
        end_function ask_by_condition_with_flags
#endif
        .section .note.GNU-stack, "", @progbits
