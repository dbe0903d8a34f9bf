/* An agent for Windows that records nothing: see pass_through.S. */
    .text
    .globl umbra_enter_13
umbra_enter_13:
    mov %rax, -32(%rsp)
    mov -24(%rsp), %rcx
    mov -16(%rsp), %rax
    jmp *-32(%rsp)

    .globl DllMainCRTStartup
DllMainCRTStartup:
    mov $1, %eax
    ret

    .section .drectve
    .ascii " -export:umbra_enter_13"
