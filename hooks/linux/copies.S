/*
 * What copied bodies call: docs/copies.md draws where. What is usual they do by themselves, with
 * adaptive timing (rewriter/copy/copy_code.S); this is what else there is.
 *
 *      on_entry      a function's copy is entered: rsp = S, rax = its key, and its registers are
 *                    below S, where save_at_entry has them
 *      on_leaf       likewise, of a leaf
 *      on_exit       it returns: rsp = S; ends in that return
 *      on_jump       it jumps to another copied function: called, rsp = S - 8
 *      on_leave      it jumps to anything else: likewise
 *
 * They keep all registers, but no flags, which are dead where functions begin and end.
 *
 * A signal's handler may leave any of them by longjmp, for good. So a frame is in the chain of callers
 * as long as it is being counted, and has what tells whether it was: shadow_entry.h.
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
    mov     rcx, [rsp - 24]
    jmp     \hook
    .endm

/*
 * The code in copies is to know this call from now on: its context is rax, and its caller's frame is
 * in the slot at [rsp - 96]. That needs the distance of the two to be the same each time: the call is
 * followed by a nop that has it. Where none follows, what does may be in a page that cannot be read.
 * A handler finds nothing here until all is. Clobbers rcx, rdx, rsi.
 */
    .macro know_site
    mov     rsi, [rsp]
    lea     ecx, [rsi - 1]
    and     ecx, 4095
    cmp     ecx, 4095 - MARK_NOP_SIZE
    ja      9f
    mov     ecx, [rsi]
    and     ecx, 0xffffff
    cmp     ecx, MARK_NOP
    jne     9f
    movsxd  rcx, dword ptr [rsi + MARK_NOP_SIZE - 4]
    mov     rdx, [rsp - 96]
    sub     rdx, rsp
    cmp     rcx, rdx
    jne     9f
    imul    ecx, esi, SITES_MIX
    xor     ecx, esp
    imul    esi, dword ptr [rax + NODE_FUNCTION], SITE_SIZE
    add     ecx, esi
    and     ecx, SITES_SIZE - SITE_SIZE
    mov     esi, ecx                        /* what is there moves over */
    xor     esi, SITE_SIZE
    add     rcx, rdi
    add     rsi, rdi
    mov     [rsp - 104], rdx
    mov     qword ptr [rsi + THREAD_SITES + SITE_RET], 0
    .irp    field, SITE_CALLER, SITE_NODE, SITE_DISTANCE, SITE_RET
    mov     rdx, [rcx + THREAD_SITES + \field]
    mov     [rsi + THREAD_SITES + \field], rdx
    .endr
    mov     rdx, [rsp - 104]
    mov     qword ptr [rcx + THREAD_SITES + SITE_RET], 0
    mov     [rcx + THREAD_SITES + SITE_DISTANCE], rdx
    mov     [rcx + THREAD_SITES + SITE_NODE], rax
    mov     edx, [rax + NODE_FUNCTION]
    mov     [rcx + THREAD_SITES + SITE_FUNCTION], edx
    mov     rdx, [rsp - 96]
    mov     rsi, [rdi + THREAD_SHADOW]
    mov     rsi, [rsi + SHADOW_SCALE * rdx + SHADOW_NODE]
    mov     esi, [rsi + NODE_CONTEXT]
    mov     [rcx + THREAD_SITES + SITE_CALLER], esi
    mov     rsi, [rsp]
    mov     [rcx + THREAD_SITES + SITE_RET], rsi
9:
    .endm

/* Of a call that is not timed; with exact timing, of each one. */
    .macro copy_entry name, hook, is_exact, is_leaf
    hidden_function \name
    .cfi_startproc
    mov     [rsp - 64], rax                 /* the key */
    mov     rcx, rax
    current_thread by_hook\@
    mov     qword ptr [rsp - 96], 0         /* the caller's frame */
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
    mov     [rsp - 96], rdx
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
    .if \is_leaf
    jns     by_hook\@                       /* it is to be timed */
    .else
    jns     timed\@
    .endif
    cmp     qword ptr [rsp - 96], 0
    je      5f
    know_site
5:
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
3:  mov     rcx, [rsp - 64]                 /* on to the first instruction, by a return, as the */
    mov     eax, [rcx + COPY_START]         /* processor expects it: it was a call that led here */
    add     rax, rcx
    mov     [rsp - 8], rax
    restore_at_entry
    lea     rsp, [rsp - 8]
    .cfi_adjust_cfa_offset 8
    ret
    .cfi_adjust_cfa_offset -8

search\@:                                   /* no hint: the table knows, and is one from now on */
    cmp     rsi, [rsp]
    jne     slow\@
    xor     esi, esi                        /* as where it is timed */
    search_context slow\@
    jmp     4b

    .if !(\is_exact | \is_leaf)
timed\@:                                    /* for a gap of calls; the next gap */
    xor     esi, esi                        /* no return address is to stay below the stack, where a
                                               sampler would find it */
    mov     edx, [rax + NODE_CALLS]
    add     edx, [rax + NODE_PASSED]
    inc     edx
    put_off_if_never 4b
    choose_gap [rsp - 104]
    mov     qword ptr [rdi + THREAD_JUMP], 0
    mov     rcx, rsp
    mov     rdx, [rdi + THREAD_SHADOW]
    lea     rdx, [rdx + SHADOW_SCALE * rcx]
    mov     rsi, [rax + NODE_CALLS]
    not     rsi
    btr     rsi, TICK_FLAG_BIT
    mov     [rdx + SHADOW_TIME], rsi
    mov     rsi, [rsp]
    mov     [rdx + SHADOW_NODE], rax
    mov     [rdx + SHADOW_RET], rsi
    mov     rsi, [rdi + THREAD_CALLER]
    shl     rsi, SHADOW_WEIGHT_BITS
    or      rsi, [rsp - 104]
    mov     [rdx + SHADOW_BELOW], rsi
    mov     [rdi + THREAD_CALLER], rcx
    inc     qword ptr [rax + NODE_CALLS]
    mov     rsi, rdx
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    sub     rax, [rdi + THREAD_STOPPED]
    mov     [rsi + SHADOW_TIME], rax
    jmp     3b
    .endif

    .ifeq \is_exact
/* A jump out of the call that the record is of, which on_leave may have made: where that is not timed,
   the record ends, and the call goes on as one by a jump out of a frame. */
left\@:
    lea     rdx, [rax - RECORD_DISTANCE + THUNK_RETURN]
    cmp     rdx, [rsp]
    jne     by_hook\@
    mov     rdx, [rdi + THREAD_TRACE]
    mov     rdx, [rdx + TRACE_TICK]
    cmp     [rax + RECORD_T0], rdx
    jne     by_hook\@
    mov     rdx, [rax + RECORD_NODE]
    mov     rsi, [rax + RECORD_RET]
    mov     rcx, [rdx + NODE_EXITS]
    inc     rcx
    not     rcx
    mov     [rax + RECORD_SLOT], rcx
    not     rcx
    mov     [rdx + NODE_EXITS], rcx
    lea     rax, [rax - THUNK_SIZE]
    mov     [rdi + THREAD_TOP], rax
    mov     [rsp], rsi
    mov     [rdi + THREAD_JUMP_NODE], rdx
    mov     [rdi + THREAD_JUMP], rsp
    mov     rcx, [rsp - 64]
    .endif

jumped\@:                                   /* below the context that has jumped; in a chain of jumps, */
    mov     rdx, [rdi + THREAD_JUMP_NODE]   /* below the first */
    mov     eax, [rdx + NODE_CONTEXT]
    mov     rsi, [rdx + NODE_SITE]
    test    rsi, rsi
    cmovs   eax, [rdx + NODE_PARENT]
    btr     rsi, SITE_TAIL_BIT
    cmp     rsi, [rsp]
    jne     slow\@
    bts     rsi, SITE_TAIL_BIT
    jmp     6b

by_record\@:
    cmp     [rax + RECORD_SLOT], rsp
    jb      slow\@
    .if \is_exact
    je      by_hook\@                       /* a jump out of the call that the record is of */
    .else
    je      left\@
    .endif
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
    jne     noticed\@                       /* timed; else a tick went by: it may have taken long */
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
done\@:
    mov     rsi, [rsp - 48]
    mov     rdx, [rsp - 40]
3:  mov     rcx, [rsp - 24]
    ret

    .ifeq \is_exact
noticed\@:
    mov     rsi, [rdx + SHADOW_TIME]
    shr     rsi, SHADOW_COUNTING_BIT
    jnz     slow\@
    mov     [rsp - 16], rax
    mov     [rsp - 56], rdi
    mov     rdi, rcx
    mov     rcx, rdx
    movzx   eax, word ptr [rcx + SHADOW_BELOW]
    mov     [rsp - 64], rax
    add_timed_call [rcx+SHADOW_NODE], [rcx+SHADOW_TIME], [rsp-64]
    mov     rax, [rsi + NODE_EXITS]
    not     rax
    mov     [rcx + SHADOW_RET], rax
    neg     rax
    mov     [rsi + NODE_EXITS], rax
    mov     rax, [rcx + SHADOW_BELOW]
    sar     rax, SHADOW_WEIGHT_BITS
    mov     [rdi + THREAD_CALLER], rax
    mov     rdi, [rsp - 56]
    mov     rax, [rsp - 16]
    jmp     done\@
    add_long_timed_call
    .endif

other\@:                                    /* of a thunk, or not recorded; or others are left over */
    mov     [rsp - 40], rdx
    mov     [rsp - 48], rsi
    mov     rsi, [rcx + THREAD_SHADOW]
    test    rsi, rsi
    jz      done\@
    mov     rdx, rsp
    sub     rdx, [rcx + THREAD_STACK_LOW]
    cmp     rdx, [rcx + THREAD_STACK_SIZE]
    jae     elsewhere\@
    mov     rdx, rsp
    lea     rdx, [rsi + SHADOW_SCALE * rdx]
    mov     rsi, [rsp]
    cmp     rsi, [rdx + SHADOW_RET]
    jne     done\@
    .if \is_exact
    mov     [rsp - 16], rax
    .endif
    jmp     slow\@

elsewhere\@:                                /* on another stack; or on the own, which has no order */
    cmp     qword ptr [rcx + THREAD_STACK_SIZE], 0
    jne     done\@
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
    jmp     done\@
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
    mov     rsi, [rdi + THREAD_SHADOW]
    lea     rsi, [rsi + SHADOW_SCALE * rcx]
    mov     rax, [rdi + THREAD_TRACE]
    cmp     qword ptr [rax + TRACE_HOOK], 0 /* paused? */
    je      slow\@
    .if \is_exact
    read_time
    sub     rax, [rsi + SHADOW_TIME]
    mov     rdx, [rsi + SHADOW_NODE]
    add     [rdx + NODE_TICKS], rax
    .else
    mov     rax, [rax + TRACE_TICK]
    cmp     [rsi + SHADOW_TIME], rax
    jne     slow\@
    .endif
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
    mov     rax, [rdx + SHADOW_TIME]
    shr     rax, SHADOW_COUNTING_BIT
    cmp     eax, 1 << (TICK_FLAG_BIT - SHADOW_COUNTING_BIT)
    jne     slow\@                          /* timed, or noted */
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
    mov     qword ptr [rsi + RECORD_MARK], 0
    mov     [rdi + THREAD_TOP], rsi
    cmp     [rsi + RECORD_SLOT], rcx        /* used by a handler before it became the top? */
    jne     1b
    mov     rax, [rax + NODE_CALLS]         /* from now on its count is the record's: shadow_entry.h */
    mov     [rsi + RECORD_MARK], rax
    mov     qword ptr [rdx + SHADOW_RET], 0
    mov     rax, [rdx + SHADOW_BELOW]
    mov     [rdi + THREAD_CALLER], rax
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
