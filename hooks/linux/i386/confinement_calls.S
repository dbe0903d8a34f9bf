/* The agent's prctl and syscall: x86_64/confinement_calls.S tells why. */
#include "hooks/linux/i386/calls.inc"

#include <sys/syscall.h>

#define PR_SET_SECCOMP 22
#define PR_SET_TSC     26

    /* The system call eax, with arguments from number \first on. */
    .macro call_system first
    push    ebx
    .cfi_adjust_cfa_offset 4
    push    esi
    .cfi_adjust_cfa_offset 4
    push    edi
    .cfi_adjust_cfa_offset 4
    push    ebp
    .cfi_adjust_cfa_offset 4
    mov     ebx, [esp + 16 + 4 * \first]
    mov     ecx, [esp + 20 + 4 * \first]
    mov     edx, [esp + 24 + 4 * \first]
    mov     esi, [esp + 28 + 4 * \first]
    mov     edi, [esp + 32 + 4 * \first]
    mov     ebp, [esp + 36 + 4 * \first]
    int     0x80
    pop     ebp
    .cfi_adjust_cfa_offset -4
    pop     edi
    .cfi_adjust_cfa_offset -4
    pop     esi
    .cfi_adjust_cfa_offset -4
    pop     ebx
    .cfi_adjust_cfa_offset -4
    ret
    .endm

    exported_function prctl
    .cfi_startproc
    cmp     dword ptr [esp + 4], PR_SET_SECCOMP
    je      3f
    cmp     dword ptr [esp + 4], PR_SET_TSC
    jne     2f
3:  call_before umbra_before_prctl
2:  go_to_next prctl, 3f
3:  mov     eax, SYS_prctl
    call_system 1
    .cfi_endproc
    .size   prctl, . - prctl

    exported_function syscall
    .cfi_startproc
    cmp     dword ptr [esp + 4], SYS_seccomp
    jne     2f
    call_before umbra_before_syscall
2:  go_to_next syscall, 3f
3:  mov     eax, [esp + 4]
    call_system 2
    .cfi_endproc
    .size   syscall, . - syscall

    .section .note.GNU-stack, "", @progbits
