/* An agent for Windows that records nothing: see pass_through.S. */
    .text
    .globl umbra_enter
umbra_enter:
    mov %rax, -24(%rsp)
    mov -16(%rsp), %rax
    jmp *-24(%rsp)

    .globl DllMainCRTStartup
DllMainCRTStartup:
    mov $1, %eax
    ret

    .section .drectve
    .ascii " -export:umbra_enter"
