/*
 * What call sites in copies with contexts beside their frames call when they cannot go on by
 * themselves (header.on_site): `call [on_site]`, with a struct frame_site behind it. P is the stack
 * pointer at the site, where the call itself is to be made:
 *
 *      [P - 8] = the frame_site, rsp = P - 8
 *
 * Every register is kept. Flags are dead at calls.
 */
#include "hooks/linux/hooks.inc"
#include "trace/frame_format.h"

#define SITE_CALL  0
#define SITE_FLAGS 14
#define CALL_SIZE  5
#define STUB_FRAME 41

/* Calls are counted, some are timed: umbra_slow_site says where it goes on. */
    hidden_function umbra_site
    .cfi_startproc
    .irp    register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
    push_register \register
    .endr
    mov     rsi, [rsp + 72]
    lea     rdi, [rsp + 80]
    mov     rdx, rbp
    cld
    call    umbra_slow_site
    mov     [rsp - 8], rax
    test    edx, DESTINATION_IN_CALL
    .irp    register, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
    pop_register \register
    .endr
    .cfi_remember_state
    jnz     1f
    lea     rsp, [rsp + 8]
    .cfi_adjust_cfa_offset -8
    jmp     [rsp - 88]
    .cfi_restore_state
1:  jmp     [rsp - 80]                      /* the return address is in the slot */
    .cfi_endproc
    .size   umbra_site, . - umbra_site

/* rax: the site; rcx: where its call is. */
    .macro load_call
    mov     [rsp - 8], rax
    mov     [rsp - 16], rcx
    mov     rax, [rsp]
    movsxd  rcx, dword ptr [rax + SITE_CALL]
    add     rcx, rax
    .endm

/* On to the call itself, as if nothing had been there. */
    .macro go_to_call
    mov     [rsp - 24], rcx
    mov     rcx, [rsp - 16]
    mov     rax, [rsp - 8]
    lea     rsp, [rsp + 8]
    .cfi_adjust_cfa_offset -8
    jmp     [rsp - 32]
    .cfi_adjust_cfa_offset 8
    .endm

    hidden_function umbra_site_pass
    .cfi_startproc
    load_call
    go_to_call
    .cfi_endproc
    .size   umbra_site_pass, . - umbra_site_pass

/* Each call is recorded by its stub, which is called or jumped to in place of the copy. */
    hidden_function umbra_site_by_stub
    .cfi_startproc
    load_call
    test    byte ptr [rax + SITE_FLAGS], FRAME_SITE_OUT | FRAME_SITE_BOUND
    jnz     2f
    test    byte ptr [rax + SITE_FLAGS], FRAME_SITE_TAIL
    lea     rcx, [rcx + CALL_SIZE]
    jnz     1f
    mov     [rsp], rcx
1:  movsxd  rax, dword ptr [rcx - 4]
    lea     rcx, [rcx + rax - FRAME_KEY_SIZE]
    movsxd  rax, dword ptr [rcx + KEY_BODY]
    lea     rcx, [rcx + rax - STUB_FRAME]
    jnz     3f
    mov     [rsp - 24], rcx
    mov     rcx, [rsp - 16]
    mov     rax, [rsp - 8]
    jmp     [rsp - 24]
2:
3:  go_to_call
    .cfi_endproc
    .size   umbra_site_by_stub, . - umbra_site_by_stub

    .section .note.GNU-stack, "", @progbits
