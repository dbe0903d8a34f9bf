/*
 * What a caller and a callee see of each other's registers.
 *
 *      registers_exchange          loads `given` into every register and the flags
 *            | call
 *            v
 *      registers_callee            stores what arrives in `arrived`, loads `returned`
 *            | ret
 *            v
 *      registers_exchange          stores what comes back in `came_back`
 *
 *      struct registers    0  rax rbx rcx rdx rsi rdi rbp r8 … r15     15 * 8
 *                        120  flags                                    8
 *                        128  xmm0 … xmm15                             16 * 16
 *
 * rsp alone is not exchanged: a call that returns has it right. Flags travel in rsp's neighbourhood
 * by popfq, so the stack below rsp is used; nothing is kept there across the call.
 */
        .macro  store_registers where
        mov     %rax, \where+0(%rip)
        mov     %rbx, \where+8(%rip)
        mov     %rcx, \where+16(%rip)
        mov     %rdx, \where+24(%rip)
        mov     %rsi, \where+32(%rip)
        mov     %rdi, \where+40(%rip)
        mov     %rbp, \where+48(%rip)
        mov     %r8, \where+56(%rip)
        mov     %r9, \where+64(%rip)
        mov     %r10, \where+72(%rip)
        mov     %r11, \where+80(%rip)
        mov     %r12, \where+88(%rip)
        mov     %r13, \where+96(%rip)
        mov     %r14, \where+104(%rip)
        mov     %r15, \where+112(%rip)
        pushfq
        .cfi_adjust_cfa_offset 8
        popq    \where+120(%rip)
        .cfi_adjust_cfa_offset -8
        .irp    number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movups  %xmm\number, \where+128+16*\number(%rip)
        .endr
        .endm

        .macro  load_registers where
        .irp    number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movups  \where+128+16*\number(%rip), %xmm\number
        .endr
        pushq   \where+120(%rip)
        .cfi_adjust_cfa_offset 8
        popfq
        .cfi_adjust_cfa_offset -8
        mov     \where+0(%rip), %rax
        mov     \where+8(%rip), %rbx
        mov     \where+16(%rip), %rcx
        mov     \where+24(%rip), %rdx
        mov     \where+32(%rip), %rsi
        mov     \where+40(%rip), %rdi
        mov     \where+48(%rip), %rbp
        mov     \where+56(%rip), %r8
        mov     \where+64(%rip), %r9
        mov     \where+72(%rip), %r10
        mov     \where+80(%rip), %r11
        mov     \where+88(%rip), %r12
        mov     \where+96(%rip), %r13
        mov     \where+104(%rip), %r14
        mov     \where+112(%rip), %r15
        .endm

        .text
        .globl  registers_callee
        .type   registers_callee, @function
        .p2align 4
registers_callee:
        .cfi_startproc
        store_registers arrived
        load_registers returned
        ret
        .cfi_endproc
        .size   registers_callee, . - registers_callee

        .globl  registers_exchange
        .type   registers_exchange, @function
        .p2align 4
registers_exchange:
        .cfi_startproc
        .irp    register, rbx, rbp, r12, r13, r14, r15
        push    %\register
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset \register, 0
        .endr
        load_registers given
        call    registers_callee
        store_registers came_back
        cld
        .irp    register, r15, r14, r13, r12, rbp, rbx
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .cfi_restore \register
        .endr
        ret
        .cfi_endproc
        .size   registers_exchange, . - registers_exchange

        .section .note.GNU-stack, "", @progbits
