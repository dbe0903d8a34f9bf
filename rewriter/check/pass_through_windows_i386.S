/* An agent of i386 for Windows that records nothing: see pass_through_i386.S. */
    .text
    .globl _umbra_enter_13
_umbra_enter_13:
    xchg %eax, (%esp)
    pop %ecx
    xchg %ecx, (%esp)
    ret

    .globl _DllMainCRTStartup@12
_DllMainCRTStartup@12:
    mov $1, %eax
    ret $12

    .section .drectve
    .ascii " -export:umbra_enter_13"
