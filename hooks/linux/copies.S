/*
 * What copied bodies call: docs/copies.md draws where.
 *
 *      on_entry      a function's copy is entered: rsp = S, rax = id; the function's rax at S - 16
 *      on_leaf       likewise, of a leaf
 *      on_exit       it returns: rsp = S; ends in that return
 *      on_jump       it jumps to another copied function: called, rsp = S - 8
 *      on_leave      it jumps to anything else: likewise
 *
 * They keep all registers, but no flags, which are dead where functions begin and end.
 *
 * A signal's handler may leave any of them by longjmp, for good. So a frame is in the chain of callers
 * as long as it is being counted, and has what tells whether it was: shadow.h.
 *
 * What is not as usual at an entry goes on as if the function's stub had been called, in the entry
 * hook (entry.S), which gives it a thunk. The registers are saved where that one has them.
 */
#include "hooks/linux/hooks.inc"

#define SLOT rsp
#include "hooks/entry.inc"

    .macro save_work_registers
    mov     [rsp - 16], rax
    save_at_entry
    .endm

    .macro save_at_entry
    mov     [rsp - 24], rcx
    mov     [rsp - 40], rdx
    mov     [rsp - 48], rsi
    mov     [rsp - 56], rdi
    .endm

    .macro restore_at_entry
    mov     rdi, [rsp - 56]
    mov     rsi, [rsp - 48]
    mov     rdx, [rsp - 40]
    mov     rcx, [rsp - 24]
    mov     rax, [rsp - 16]
    .endm

/* On to the entry hook, with the stub's body in rax. */
    .macro go_by_hook hook
    mov     rdx, [rsp - 64]
    movsxd  rax, dword ptr [rdx + COPY_BODY]
    add     rax, rdx
    mov     rdi, [rsp - 56]
    mov     rsi, [rsp - 48]
    mov     rdx, [rsp - 40]
    jmp     \hook
    .endm

/* Of a call that is not timed; with exact timing, of each one. */
    .macro copy_entry name, hook, is_exact, is_leaf
    hidden_function \name
    .cfi_startproc
    save_at_entry
    mov     [rsp - 64], rax                 /* id */
    mov     rcx, rax
    current_thread by_hook\@
    mov     rax, rsp                        /* on the own stack? */
    sub     rax, [rdi + THREAD_STACK_LOW]
    cmp     rax, [rdi + THREAD_STACK_SIZE]
    jae     slow\@
    mov     rsi, [rdi + THREAD_SHADOW]
    test    rsi, rsi
    jz      slow\@
    cmp     [rdi + THREAD_JUMP], rsp        /* a jump that is no call? */
    je      jumped\@
    mov     rdx, [rdi + THREAD_CALLER]      /* who calls: the innermost frame, */
    mov     rax, [rdi + THREAD_TOP]
    cmp     rdx, [rax + RECORD_SLOT]
    jae     by_record\@
    cmp     rdx, rsp
    jbe     slow\@
    lea     rax, [rsi + SHADOW_SCALE * rdx]
    mov     rdx, [rdx]
    cmp     rdx, [rax + SHADOW_RET]
    jne     slow\@
2:  mov     rax, [rax + SHADOW_NODE]        /* or the newest record, which has its node there */
    mov     eax, [rax + NODE_CONTEXT]
    mov     rsi, [rsp]
6:  movsxd  rdx, dword ptr [rcx + COPY_HEADER]
    mov     edx, [rcx + rdx + IMAGE_FIRST_FUNCTION]
    add     edx, [rcx + COPY_INDEX]
    shl     rdx, 32
    or      rdx, rax
    mov     eax, esp
    xor     eax, esi
    xor     eax, ecx
    and     eax, HINTS_SIZE - 4
    mov     eax, [rdi + rax + THREAD_HINTS]
    shl     rax, 6
    add     rax, [rdi + THREAD_TRACE]
    cmp     [rax + NODE_PARENT], rdx
    jne     search\@
    cmp     [rax + NODE_SITE], rsi
    jne     search\@
4:
    .ifeq \is_exact
    mov     ecx, [rax + NODE_CALLS]
    .if \is_leaf
    add     ecx, [rax + NODE_PASSED]
    .endif
    sub     ecx, [rax + NODE_NEXT]
    inc     ecx
    jns     slow\@                          /* it is to be timed */
    .endif
    mov     qword ptr [rdi + THREAD_JUMP], 0
    .if \is_leaf
    inc     qword ptr [rax + NODE_PASSED]
    .else
    mov     rcx, rsp
    mov     rdx, [rdi + THREAD_SHADOW]
    lea     rdx, [rdx + SHADOW_SCALE * rcx]
    mov     rsi, [rax + NODE_CALLS]
    not     rsi
    mov     [rdx + SHADOW_TIME], rsi        /* until it is counted */
    mov     rsi, [rsp]
    mov     [rdx + SHADOW_NODE], rax
    mov     [rdx + SHADOW_RET], rsi
    mov     rsi, [rdi + THREAD_CALLER]
    mov     [rdx + SHADOW_BELOW], rsi
    mov     [rdi + THREAD_CALLER], rcx
    inc     qword ptr [rax + NODE_CALLS]
    .if \is_exact
    mov     rsi, rdx
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    sub     rax, [rdi + THREAD_STOPPED]
    mov     [rsi + SHADOW_TIME], rax
    .else
    mov     rax, [rdi + THREAD_TRACE]
    mov     rax, [rax + TRACE_TICK]
    mov     [rdx + SHADOW_TIME], rax
    .endif
    .endif
3:  restore_at_entry
    jmp     [rsp - 64]

search\@:                                   /* no hint: the table knows, and is one from now on */
    cmp     rsi, [rsp]
    jne     slow\@
    search_context slow\@
    jmp     4b

jumped\@:                                   /* below the context that has jumped; in a chain of jumps, */
    mov     rdx, [rdi + THREAD_JUMP_NODE]   /* below the first */
    mov     eax, [rdx + NODE_CONTEXT]
    mov     rsi, [rdx + NODE_SITE]
    test    rsi, rsi
    cmovs   eax, [rdx + NODE_PARENT]
    bts     rsi, SITE_TAIL_BIT
    jmp     6b

by_record\@:
    cmp     [rax + RECORD_SLOT], rsp
    jbe     slow\@
    add     rax, RECORD_NODE - SHADOW_NODE
    jmp     2b

slow\@:
    mov     rdi, rsp
    mov     rsi, [rsp - 64]
    call_c  umbra_slow_copy_entry
    test    eax, eax
    jnz     3b
by_hook\@:
    go_by_hook \hook
    .cfi_endproc
    .size   \name, . - \name
    .endm

    copy_entry umbra_copy_entry_adaptive, umbra_record_adaptive, 0, 0
    copy_entry umbra_copy_leaf_adaptive, umbra_record_adaptive, 0, 1
    copy_entry umbra_copy_entry_exact, umbra_record_exact, 1, 0

/* Each call has a thunk. */
    .macro copy_entry_by_hook name, hook
    hidden_function \name
    .cfi_startproc
    save_at_entry
    mov     [rsp - 64], rax
    go_by_hook \hook
    .cfi_endproc
    .size   \name, . - \name
    .endm

    copy_entry_by_hook umbra_copy_leaf_exact, umbra_record_exact
    copy_entry_by_hook umbra_copy_entry_events, umbra_record_events
    copy_entry_by_hook umbra_copy_leaf_events, umbra_record_events
    copy_entry_by_hook umbra_copy_entry_unless_paused, umbra_record_unless_paused
    copy_entry_by_hook umbra_copy_leaf_unless_paused, umbra_record_unless_paused

/* The first call into an image: it may not have been through a stub. */
    copy_entry_by_hook umbra_copy_entry_first, umbra_enter

/* Where there are no frames: the function returns, or, called, it may jump. */
    hidden_function umbra_copy_pass
    .cfi_startproc
    ret
    .cfi_endproc
    .size   umbra_copy_pass, . - umbra_copy_pass

/* A frame that is the innermost one has been counted, and is counted as returned. */
    .macro copy_exit name, is_exact
    hidden_function \name
    .cfi_startproc
    mov     [rsp - 24], rcx
    mov     rcx, [rip + umbra_thread@gottpoff]
    mov     rcx, fs:[rcx]
    jrcxz   3f
    cmp     [rcx + THREAD_CALLER], rsp
    jne     other\@
    mov     [rsp - 40], rdx
    mov     [rsp - 48], rsi
    .if \is_exact
    mov     [rsp - 16], rax
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    sub     rax, [rcx + THREAD_STOPPED]
    .endif
    mov     rdx, rsp
    mov     rsi, [rcx + THREAD_SHADOW]
    lea     rdx, [rsi + SHADOW_SCALE * rdx]
    .ifeq \is_exact
    mov     rsi, [rcx + THREAD_TRACE]
    mov     rsi, [rsi + TRACE_TICK]
    cmp     [rdx + SHADOW_TIME], rsi
    jne     slow\@                          /* timed; else a tick went by: it may have taken long */
    .endif
    mov     rsi, [rdx + SHADOW_NODE]
    .if \is_exact
    sub     rax, [rdx + SHADOW_TIME]
    add     [rsi + NODE_TICKS], rax
    mov     rax, [rsp - 16]
    .endif
    mov     [rsp - 56], rdi
    mov     rdi, [rsi + NODE_EXITS]
    not     rdi
    mov     [rdx + SHADOW_RET], rdi
    neg     rdi
    mov     [rsi + NODE_EXITS], rdi
    mov     rsi, [rdx + SHADOW_BELOW]
    mov     rdi, [rsp - 56]
    mov     [rcx + THREAD_CALLER], rsi
2:  mov     rsi, [rsp - 48]
    mov     rdx, [rsp - 40]
3:  mov     rcx, [rsp - 24]
    ret

other\@:                                    /* of a thunk, or not recorded; or others are left over */
    mov     [rsp - 40], rdx
    mov     [rsp - 48], rsi
    mov     rsi, [rcx + THREAD_SHADOW]
    test    rsi, rsi
    jz      2b
    mov     rdx, rsp
    sub     rdx, [rcx + THREAD_STACK_LOW]
    cmp     rdx, [rcx + THREAD_STACK_SIZE]
    jae     elsewhere\@
    mov     rdx, rsp
    lea     rdx, [rsi + SHADOW_SCALE * rdx]
    mov     rsi, [rsp]
    cmp     rsi, [rdx + SHADOW_RET]
    jne     2b
    .if \is_exact
    mov     [rsp - 16], rax
    .endif
    jmp     slow\@

elsewhere\@:                                /* on another stack; or on the own, which has no order */
    cmp     qword ptr [rcx + THREAD_STACK_SIZE], 0
    jne     2b
    .if \is_exact
    mov     [rsp - 16], rax
    .endif
slow\@:
    .ifeq \is_exact
    mov     [rsp - 16], rax
    .endif
    mov     [rsp - 56], rdi
    mov     rdi, rsp
    call_c  umbra_slow_copy_exit
    mov     rdi, [rsp - 56]
    mov     rax, [rsp - 16]
    jmp     2b
    .cfi_endproc
    .size   \name, . - \name
    .endm

    copy_exit umbra_copy_exit_adaptive, 0
    copy_exit umbra_copy_exit_exact, 1

/* rdi: the thread, rcx: S, whose frame is the innermost; else to \none. */
    .macro innermost_frame none
    current_thread \none
    lea     rcx, [rsp + 8]
    cmp     [rdi + THREAD_CALLER], rcx
    jne     \none
    .endm

/* The frame ends by a jump to a copied function, which takes its slot. */
    .macro copy_jump name, is_exact
    hidden_function \name
    .cfi_startproc
    save_work_registers
    innermost_frame 3f
    .ifeq \is_exact
    mov     rsi, [rdi + THREAD_SHADOW]
    lea     rsi, [rsi + SHADOW_SCALE * rcx]
    mov     rax, [rdi + THREAD_TRACE]
    cmp     qword ptr [rax + TRACE_HOOK], 0 /* paused? */
    je      slow\@
    mov     rax, [rax + TRACE_TICK]
    cmp     [rsi + SHADOW_TIME], rax
    jne     slow\@
    mov     rax, [rsi + SHADOW_NODE]
    mov     rdx, [rax + NODE_EXITS]
    not     rdx
    mov     [rsi + SHADOW_RET], rdx
    neg     rdx
    mov     [rax + NODE_EXITS], rdx
    mov     [rdi + THREAD_JUMP_NODE], rax
    mov     [rdi + THREAD_JUMP], rcx
    mov     rax, [rsi + SHADOW_BELOW]
    mov     [rdi + THREAD_CALLER], rax
    .else
    jmp     slow\@
    .endif
3:  restore_at_entry
    ret

slow\@:
    mov     rdi, rcx
    call_c  umbra_slow_copy_jump
    jmp     3b
    .cfi_endproc
    .size   \name, . - \name
    .endm

    copy_jump umbra_copy_jump_adaptive, 0
    copy_jump umbra_copy_jump_exact, 1

/*
 * The frame ends by a jump to anything else. What that is, and whether the agent sees it return, is
 * not known: so the frame gets a record, whose thunk it will return to. From then on it is as if the
 * function had been called through a thunk.
 */
    .macro copy_leave name, is_exact
    hidden_function \name
    .cfi_startproc
    save_work_registers
    innermost_frame 3f
    mov     rdx, [rdi + THREAD_SHADOW]
    lea     rdx, [rdx + SHADOW_SCALE * rcx]
    .ifeq \is_exact
    cmp     qword ptr [rdx + SHADOW_TIME], 0
    jns     slow\@                          /* timed */
    .endif
    mov     rsi, [rdi + THREAD_TOP]
    cmp     [rsi + RECORD_SLOT], rcx
    jbe     slow\@
    add     rsi, THUNK_SIZE
    cmp     qword ptr [rsi + RECORD_SLOT], 0
    je      slow\@
1:  mov     rax, [rcx]
    mov     [rsi + RECORD_SLOT], rcx
    mov     [rsi + RECORD_RET], rax
    mov     [rsi + RECORD_BODY], rax        /* what is not 0 */
    mov     qword ptr [rsi + RECORD_WEIGHT], 1
    mov     rax, [rdx + SHADOW_TIME]
    mov     [rsi + RECORD_T0], rax
    mov     rax, [rdx + SHADOW_NODE]
    mov     [rsi + RECORD_NODE], rax
    mov     rax, [rax + NODE_CALLS]
    mov     [rsi + RECORD_MARK], rax
    mov     [rdi + THREAD_TOP], rsi
    cmp     [rsi + RECORD_SLOT], rcx        /* used by a handler before it became the top? */
    jne     1b
    mov     rax, [rdx + SHADOW_BELOW]
    mov     [rdi + THREAD_CALLER], rax
    mov     qword ptr [rdx + SHADOW_RET], 0
    lea     rax, [rsi - RECORD_DISTANCE + THUNK_RETURN]
    mov     [rcx], rax
3:  restore_at_entry
    ret

slow\@:
    mov     rdi, rcx
    call_c  umbra_slow_copy_leave
    jmp     3b
    .cfi_endproc
    .size   \name, . - \name
    .endm

    copy_leave umbra_copy_leave_adaptive, 0
    copy_leave umbra_copy_leave_exact, 1

    .section .rodata
    .balign 8
hash_b:
    .quad   HASH_B

    .section .note.GNU-stack, "", @progbits
