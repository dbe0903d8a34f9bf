/* Prologues of all kinds, each returning a number made of its argument. */
    .macro function name
    .p2align 4
    .globl \name
    .def \name; .scl 2; .type 32; .endef
    .seh_proc \name
\name:
    .endm

    .text
    function frames_push
    push %rbx
    .seh_pushreg %rbx
    push %rsi
    .seh_pushreg %rsi
    sub $40, %rsp
    .seh_stackalloc 40
    .seh_endprologue
    lea 1(%rcx), %eax
    nop
    add $40, %rsp
    pop %rsi
    pop %rbx
    ret
    .seh_endproc

    function frames_far
    sub $4000, %rsp
    .seh_stackalloc 4000
    mov %rbx, 64(%rsp)
    .seh_savereg %rbx, 64
    .seh_endprologue
    lea 2(%rcx), %eax
    mov 64(%rsp), %rbx
    add $4000, %rsp
    ret
    .seh_endproc

    function frames_pointer
    push %rbp
    .seh_pushreg %rbp
    mov %rsp, %rbp
    .seh_setframe %rbp, 0
    sub $48, %rsp
    .seh_stackalloc 48
    .seh_endprologue
    sub $32, %rsp
    lea 3(%rcx), %eax
    nop
    lea (%rbp), %rsp
    pop %rbp
    ret
    .seh_endproc

    function frames_call
    push %rax
    .seh_stackalloc 8
    .seh_endprologue
    call callee
    nop
    add $8, %rsp
    ret
    .seh_endproc

    function callee
    sub $56, %rsp
    .seh_stackalloc 56
    .seh_endprologue
    lea 4(%rcx), %eax
    nop
    add $56, %rsp
    ret
    .seh_endproc

    .p2align 4
    .globl frames_leaf
    .def frames_leaf; .scl 2; .type 32; .endef
frames_leaf:
    lea 5(%rcx), %eax
    xor %edx, %edx
    add %edx, %eax
    ret
