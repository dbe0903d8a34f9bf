/*
 * What call sites in copies with contexts beside their frames call when they cannot go on by
 * themselves (header.on_site): `call [on_site]`, with a struct frame_site behind it. P is the stack
 * pointer at the site, where the call itself is to be made:
 *
 *      [P - 8] = the frame_site, rsp = P - 8
 *
 * Every register is kept. Flags are dead at calls.
 */
#include "hooks/linux/x86_64/hooks.inc"

#define CALL_SIZE 5

    .macro restore_work_registers
    mov     rdi, [rsp - 40]
    mov     rsi, [rsp - 32]
    mov     rdx, [rsp - 24]
    mov     rcx, [rsp - 16]
    mov     rax, [rsp - 8]
    .endm

/*
 * The turn of a call that is to be timed, of a context that is known: what its link has counted is
 * handed on, and the call goes by the stub, with a note of who calls. So the entry hook times it, or
 * finds that it is not its turn yet. The link fires again after as many calls as this time. All else to
 * \otherwise.
 */
    .macro hand_on_turn otherwise
    mov     rax, [rsp]                      /* the site */
    test    byte ptr [rax + SITE_FLAGS], FRAME_SITE_TAIL | FRAME_SITE_OUT | FRAME_SITE_POINTER | FRAME_SITE_BOUND
    jnz     \otherwise
    movsxd  rcx, dword ptr [rax + SITE_OWN]
    lea     rdx, [rsp + 8]
    test    byte ptr [rax + SITE_FLAGS], FRAME_SITE_RBP
    cmovnz  rdx, rbp
    add     rcx, rdx                        /* the slot of its function */
    mov     rdi, THREAD_WORDS
    mov     rsi, rsp                        /* that of the call */
    sub     rcx, THREAD_SEGMENT:[rdi + SLOT_FRAMES + FRAMES_LOW]
    sub     rsi, THREAD_SEGMENT:[rdi + SLOT_FRAMES + FRAMES_LOW]
    cmp     rcx, THREAD_SEGMENT:[rdi + SLOT_FRAMES + FRAMES_SIZE]
    jae     \otherwise
    cmp     rsi, THREAD_SEGMENT:[rdi + SLOT_FRAMES + FRAMES_SIZE]
    jae     \otherwise
    add     rcx, THREAD_SEGMENT:[rdi + SLOT_FRAMES + FRAMES_SHADOW]
    add     rsi, THREAD_SEGMENT:[rdi + SLOT_FRAMES + FRAMES_SHADOW]
    mov     rcx, [rcx]                      /* its context */
    test    rcx, rcx
    jz      \otherwise
    test    cl, FRAME_OUT_BITS
    jnz     \otherwise
    movsxd  rdx, dword ptr [rax + SITE_SELF]
    mov     edx, [rax + rdx + KEY_KEY]
    cmp     [rcx + LINKS_KEY], edx
    jne     \otherwise
    movzx   edx, word ptr [rax + SITE_LINK]
    cmp     edx, LINKS_INLINE
    jae     \otherwise
    shl     edx, 4
    lea     rdx, [rcx + rdx + LINKS_FIRST]
    cmp     dword ptr [rdx + LINK_WORD], -1
    jne     \otherwise
    mov     rdi, THREAD_SEGMENT:[rdi]
    mov     rax, [rdx + LINK_CALLEE]
    test    al, 1
    jnz     leaf\@
    test    rax, rax
    jz      \otherwise
    add     rax, LINKS_ENTERED
    mov     [rsp - 48], rax                 /* where its calls are counted */
    mov     eax, [rax - LINKS_ENTERED + LINKS_NODE]
    shl     rax, 6
    add     rax, [rdi + THREAD_TRACE]
    jmp     arm\@
leaf\@:
    dec     rax
    lea     rdi, [rax + NODE_PASSED]
    mov     [rsp - 48], rdi
arm\@:                                      /* the link begins anew before its calls are handed on, so
                                               that a handler's calls by it are added to nothing twice */
    movzx   edi, byte ptr [rax + NODE_GAP]
    test    edi, edi
    jz      \otherwise
    mov     rax, rdi
    shl     rdi, 32
    neg     eax
    or      rax, rdi
    mov     edi, [rdx + LINK_ARMED]
    dec     edi
    mov     [rdx + LINK_WORD], rax
    mov     rax, [rsp - 48]
    add     [rax], rdi
    or      rcx, FRAME_CALLED_OUT
    mov     [rsi], rcx
    mov     rdi, THREAD_WORDS
    lea     rax, [rsp + 8]
    mov     THREAD_SEGMENT:[rdi + SLOT_FRAMES + FRAMES_NOTE], rax
    .endm

/* Calls are counted, some are timed: umbra_slow_site says where it goes on. */
    hidden_function umbra_site
    .cfi_startproc
    mov     [rsp - 8], rax
    mov     [rsp - 16], rcx
    mov     [rsp - 24], rdx
    mov     [rsp - 32], rsi
    mov     [rsp - 40], rdi
    hand_on_turn 1f
    restore_work_registers
    jmp     umbra_site_by_stub
1:  restore_work_registers
    .irp    register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
    push_register \register
    .endr
    mov     rsi, [rsp + 72]
    lea     rdi, [rsp + 80]
    mov     rdx, rbp
    cld
    call    umbra_slow_site
    mov     [rsp - 8], rax
    and     edx, DESTINATION_IN_CALL | DESTINATION_BEHIND
    cmp     edx, DESTINATION_IN_CALL
    .irp    register, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
    pop_register \register
    .endr
    .cfi_remember_state
    je      2f
    ja      3f
    lea     rsp, [rsp + 8]
    .cfi_adjust_cfa_offset -8
    jmp     [rsp - 88]
    .cfi_restore_state
    .cfi_remember_state
3:  lea     rsp, [rsp + 16]
    .cfi_adjust_cfa_offset -16
    jmp     [rsp - 96]
    .cfi_restore_state
2:  jmp     [rsp - 80]                      /* the return address is in the slot */
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
    lea     rcx, [rcx + rax - STUB_FRAME_SIZE]
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
