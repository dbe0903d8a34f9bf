/*
 * Entry point of a static executable that holds the agent. As the kernel leaves it: rsp at the
 * argument count, nothing in the registers but rdx, a function to be called at exit or 0. glibc
 * registers what it finds there before any other such function, so it runs last: the agent's end.
 * musl does not look; there, a trace is left as by a program that was killed.
 */
    .intel_syntax noprefix
    .text
    .globl  umbra_start
    .type   umbra_start, @function
umbra_start:
    .cfi_startproc
    .cfi_undefined rip
    xor     ebp, ebp
    mov     rdi, rsp
    push    rdx
    .cfi_adjust_cfa_offset 8
    push    rdx
    .cfi_adjust_cfa_offset 8
    call    umbra_embedded_start
    pop     rdx
    .cfi_adjust_cfa_offset -8
    pop     rdx
    .cfi_adjust_cfa_offset -8
    test    rdx, rdx
    jnz     1f
    lea     rdx, [rip + agent_end]
1:  xor     ecx, ecx
    xor     esi, esi
    xor     edi, edi
    xor     r8d, r8d
    xor     r9d, r9d
    xor     r10d, r10d
    xor     r11d, r11d
    jmp     rax
    .cfi_endproc
    .size   umbra_start, . - umbra_start

    .section .note.GNU-stack, "", @progbits
