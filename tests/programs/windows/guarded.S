/*
 * int guarded_load(const int *from): a load that its own handler guards, right behind a prologue
 * that is shorter than a jump. Moved to a stub, the fault would not be seen as the function's.
 * In guarded_load_late the prologue is long enough.
 */
    .text

    .p2align 4
    .globl guarded_load
    .def guarded_load; .scl 2; .type 32; .endef
    .seh_proc guarded_load
    .seh_handler __C_specific_handler, @except
guarded_load:
    sub $40, %rsp
    .seh_stackalloc 40
    .seh_endprologue
1:  mov (%rcx), %eax
    nop
2:  add $40, %rsp
    ret
3:  mov $-1, %eax
    jmp 2b
    .seh_handlerdata
    .long 1
    .rva 1b, 2b
    .long 1
    .rva 3b
    .text
    .seh_endproc

    .p2align 4
    .globl guarded_load_late
    .def guarded_load_late; .scl 2; .type 32; .endef
    .seh_proc guarded_load_late
    .seh_handler __C_specific_handler, @except
guarded_load_late:
    push %rbx
    .seh_pushreg %rbx
    sub $48, %rsp
    .seh_stackalloc 48
    .seh_endprologue
1:  mov (%rcx), %eax
    nop
2:  add $48, %rsp
    pop %rbx
    ret
3:  mov $-1, %eax
    jmp 2b
    .seh_handlerdata
    .long 1
    .rva 1b, 2b
    .long 1
    .rva 3b
    .text
    .seh_endproc
