/* What copied bodies call, each call of which goes by the hooks (entry.S): rsp = S, rax = the body's
   key, rcx, rdx, rsi and rdi are below S. */
#include "hooks/linux/hooks.inc"

    .macro copy_entry name, hook
    hidden_function \name
    .cfi_startproc
    mov     rdx, rax
    movsxd  rax, dword ptr [rdx + COPY_BODY]
    add     rax, rdx
    mov     rdi, [rsp - 56]
    mov     rsi, [rsp - 48]
    mov     rdx, [rsp - 40]
    mov     rcx, [rsp - 24]
    jmp     \hook
    .cfi_endproc
    .size   \name, . - \name
    .endm

    copy_entry umbra_copy_entry, umbra_record_unless_paused

/* The first call into an image: it may not have been through a stub. */
    copy_entry umbra_copy_entry_first, umbra_enter

/* The function returns, or, called, it may jump. */
    hidden_function umbra_copy_pass
    .cfi_startproc
    ret
    .cfi_endproc
    .size   umbra_copy_pass, . - umbra_copy_pass

    .section .note.GNU-stack, "", @progbits
