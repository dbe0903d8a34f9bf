/*
 * Functions that read *rcx at a step of their prologues, each within the five bytes that a jump
 * takes. The second and the third have overwritten what they saved.
 *
 *      load_first          load_pushed         load_pushed_twice   load_allocated
 *
 *      mov eax, [rcx]      push rbx            push rbx            sub rsp, 40
 *      push rbx            xor ebx, ebx        push rsi            mov eax, [rcx]
 *      sub rsp, 32         mov eax, [rcx]      xor esi, esi        …
 *      …                   sub rsp, 32         mov eax, [rcx]
 *                          …                   sub rsp, 40
 *                                              …
 */
    .macro function name
    .p2align 4
    .globl \name
    .def \name; .scl 2; .type 32; .endef
    .seh_proc \name
\name:
    .endm

    .text
    function load_first
    mov (%rcx), %eax
    push %rbx
    .seh_pushreg %rbx
    sub $32, %rsp
    .seh_stackalloc 32
    .seh_endprologue
    xor %ebx, %ebx
    add $32, %rsp
    pop %rbx
    ret
    .seh_endproc

    function load_pushed
    push %rbx
    .seh_pushreg %rbx
    xor %ebx, %ebx
    mov (%rcx), %eax
    sub $32, %rsp
    .seh_stackalloc 32
    .seh_endprologue
    nop
    add $32, %rsp
    pop %rbx
    ret
    .seh_endproc

    function load_pushed_twice
    push %rbx
    .seh_pushreg %rbx
    push %rsi
    .seh_pushreg %rsi
    xor %esi, %esi
    mov (%rcx), %eax
    sub $40, %rsp
    .seh_stackalloc 40
    .seh_endprologue
    xor %ebx, %ebx
    add $40, %rsp
    pop %rsi
    pop %rbx
    ret
    .seh_endproc

    function load_allocated
    sub $40, %rsp
    .seh_stackalloc 40
    mov (%rcx), %eax
    .seh_endprologue
    nop
    add $40, %rsp
    ret
    .seh_endproc
