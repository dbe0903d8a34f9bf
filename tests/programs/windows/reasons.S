/*
 * int guarded_at_entry(const int *from): the first instruction is a load that the function's own
 * handler guards: whatever was put in its place, the fault would not be seen as the function's.
 */
    .text

    .p2align 4
    .globl guarded_at_entry
    .def guarded_at_entry; .scl 2; .type 32; .endef
    .seh_proc guarded_at_entry
    .seh_handler __C_specific_handler, @except
guarded_at_entry:
    .seh_endprologue
1:  mov (%rcx), %eax
    nop
    nop
    nop
2:  ret
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
    .globl main
    .def main; .scl 2; .type 32; .endef
main:
    xor %eax, %eax
    ret
