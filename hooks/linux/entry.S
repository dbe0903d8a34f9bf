/*
 * Entry and exit of every recorded call.
 *
 *      caller:    call function                 rsp = S, [S] = return address R
 *      function:  jmp  stub
 *      stub:      mov  [rsp - 24], rcx
 *                 mov  rcx, [hook word]
 *                 jrcxz body            ->  (by way of a restored rcx) not recorded, or paused
 *                 mov  [rsp - 16], rax
 *                 lea  rax, [body]
 *                 jmp  rcx              ->  umbra_record_…: note the call, rsp = S + 8
 *      thunk:     call [record.body]            [S] = T, rsp = S
 *      body:      … ret                         rsp = S + 8
 *      T:         push [record.ret]             [S] = R, rsp = S
 *                 …                     ->  umbra_exit_…: note the end; ret
 *
 * Both hooks keep every register and all flags. They save what they use below the stack pointer,
 * in the red zone, which belongs to whoever runs at a function's boundary and which signal
 * handlers leave alone:
 *
 *      rsp - 16  rax      -40  rdx      -64  where to go on
 *          - 24  rcx      -48  rsi
 *          - 32  flags    -56  rdi
 *
 * What it costs. Two clock readings are 17 of the 20 ns of a timed call on the machine of
 * docs/timing.md; all else runs beside them. An untimed call waits for two things, and single
 * instructions or stores more or less do not show in that:
 *
 *   - Branches: seven that are taken, four of them indirect. The way to the thunk has as many
 *     targets as the stack has frames, and that processor guesses it by little more than the branch
 *     before, which is the same for all. So conditional branches, which it predicts by a long
 *     history, tell it by the depth (enter_thunk_by_depth): fib 12.5 ns a call without, 10.0 with.
 *   - Memory: the context's line, and the line of the table that leads there. Programs have ten
 *     thousands of contexts; the hints keep the way to those of late in the nearest cache: Lua 22 ns
 *     a call without, 19.5 with. A hint's place is told by the slot's address, the call site and the
 *     body, and not by the caller's context, which an earlier call may still be waiting for.
 *
 * A tail call costs less than a call: its thunk's call was made already, so the body is all that is
 * left to go to (probes.c, tail_call).
 *
 * A signal may arrive anywhere. Its handler may make recorded calls (these use the records above
 * the top, and are gone when it returns) or leave by longjmp. So a record is filled in before it
 * becomes the top; a handler that used it in between has changed its slot, and it is filled in again.
 * Calls are counted by storing the new count in the record's mark first, then in the node, exits
 * with the new count in the slot (layout.h): a hook that never goes on was counted either not at
 * all or once.
 */
#include "thunkstash/layout.h"
#include "trace/image_offsets.h"

    .intel_syntax noprefix
    .text

    .macro save_flags_and_work_registers
    mov     rcx, rax
    lahf
    seto    al
    mov     [rsp - 32], rax
    mov     [rsp - 40], rdx
    mov     [rsp - 48], rsi
    mov     [rsp - 56], rdi
    .endm

    .macro restore_all_but_rdx
    mov     rax, [rsp - 32]
    add     al, 0x7f                /* overflow if it was set */
    sahf
    mov     rdi, [rsp - 56]
    mov     rsi, [rsp - 48]
    mov     rcx, [rsp - 24]
    mov     rax, [rsp - 16]
    .endm

    .macro restore_flags_and_work_registers
    mov     rdx, [rsp - 40]
    restore_all_but_rdx
    .endm

    /* rdi: the calling thread's state, or to \none. */
    .macro current_thread none
    mov     rdi, [rip + umbra_thread@gottpoff]
    mov     rdi, fs:[rdi]
    test    rdi, rdi
    jz      \none
    .endm

    /* On to the body at once, with all registers as the stub left them. */
    .macro go_to_body
    mov     [rsp - 32], rax
    mov     rcx, [rsp - 24]
    mov     rax, [rsp - 16]
    jmp     [rsp - 32]
    .endm

    .macro push_register register
    push    \register
    .cfi_adjust_cfa_offset 8
    .endm

    .macro pop_register register
    pop     \register
    .cfi_adjust_cfa_offset -8
    .endm

    /* Calls C with what save_flags_and_work_registers has left; rsp is as at the hook's entry
       before and after. C is compiled without vector registers. */
    .macro call_c function
    lea     rsp, [rsp - 128]
    .cfi_adjust_cfa_offset 128
    push_register r8
    push_register r9
    push_register r10
    push_register r11
    pushfq
    .cfi_adjust_cfa_offset 8
    cld
    call    \function
    popfq
    .cfi_adjust_cfa_offset -8
    pop_register r11
    pop_register r10
    pop_register r9
    pop_register r8
    lea     rsp, [rsp + 128]
    .cfi_adjust_cfa_offset -128
    .endm

    .macro hidden_function name
    .balign 64
    .globl  \name
    .hidden \name
    .type   \name, @function
\name:
    .endm

/* Not recording yet: on to the body. */
    hidden_function umbra_pass
    .cfi_startproc
    go_to_body
    .cfi_endproc
    .size   umbra_pass, . - umbra_pass

/* First call into an image since it was loaded: the entry hook as the dynamic linker binds it. */
    .balign 64
    .globl  umbra_enter_4
    .type   umbra_enter_4, @function
umbra_enter_4:
    .cfi_startproc
    save_flags_and_work_registers
    lea     rdi, [rip + umbra_pass]
    cmp     dword ptr [rip + umbra_ready], 0
    je      1f
    mov     [rsp - 72], rcx
    mov     rdi, rcx
    call_c  umbra_first_call
    mov     rcx, [rsp - 72]
    mov     rdi, rax
1:  mov     [rsp - 64], rdi
    mov     [rsp - 72], rcx
    restore_flags_and_work_registers
    mov     rax, [rsp - 72]
    jmp     [rsp - 64]
    .cfi_endproc
    .size   umbra_enter_4, . - umbra_enter_4

/* The hook of images over whose hook word the trace could not be mapped (hook_word.h). */
    hidden_function umbra_record_unless_paused
    .cfi_startproc
    mov     rcx, [rip + session_paused]
    mov     ecx, [rcx]
    lea     ecx, [rcx - 1]
    jrcxz   1f
    jmp     [rip + umbra_session_entry]
1:  go_to_body
    .cfi_endproc
    .size   umbra_record_unless_paused, . - umbra_record_unless_paused

/* On to the thunk at [rsp - 64], with rsp just above the slot. */
    .macro enter_thunk
    lea     rsp, [rsp + 8]
    .cfi_remember_state
    .cfi_def_cfa_offset 0
    jmp     [rsp - 72]
    .cfi_restore_state
    .endm

/* Restores, and goes on to the thunk of the record rsi: at one of 32 places, by its number. */
    .macro enter_thunk_by_depth bit
    .if \bit == THUNK_SIZE << 5
    .balign 16
    restore_flags_and_work_registers
    enter_thunk
    .else
    test    esi, \bit
    jz      other\@
    enter_thunk_by_depth "(\bit << 1)"
other\@:
    enter_thunk_by_depth "(\bit << 1)"
    .endif
    .endm

/* rdx: function << 32 | rax, of a call to rcx. */
    .macro key_of_callee
    movsxd  rdx, dword ptr [rcx + STUB_HEADER_DISTANCE]
    mov     edx, [rcx + rdx + IMAGE_FIRST_FUNCTION]
    add     edx, [rcx + STUB_INDEX]
    shl     rdx, 32
    or      rdx, rax
    .endm

/* rdx: function << 32 | parent, of a call to rcx out of the record rsi. Clobbers rax. */
    .macro callee_key
    mov     rax, [rsi + RECORD_NODE]
    mov     eax, [rax + NODE_CONTEXT]
    key_of_callee
    .endm

/* eax: where among the hints the context of a call to rcx with its slot at rsp is, if it is there.
   site: its call's, without flags. */
    .macro hint_place site:vararg
    mov     eax, esp
    xor     eax, \site
    xor     eax, ecx
    and     eax, HINTS_SIZE - 4
    .endm

/* rax: the context that the hint for it names, if it has the key rdx; the site is still to be
   compared. Else to \other. */
    .macro hinted_context other, site:vararg
    hint_place \site
    mov     eax, [rdi + rax + THREAD_HINTS]
    shl     rax, 6
    add     rax, [rdi + THREAD_TRACE]
    cmp     [rax + NODE_PARENT], rdx
    jne     \other
    .endm

/* rax: the thread's time. Clobbers rdx. */
    .macro read_time
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    sub     rax, [rdi + THREAD_STOPPED]
    .endm

/* rax: where in the table the context of key rdx and the site at [rsp] is looked for first. */
    .macro first_place
    mov     rax, rdx
    rol     rax, HASH_ROTATE
    add     rax, [rsp]
    imul    rax, [rip + hash_b]
    shr     rax, 30
    .endm

/* Makes rsi the record above the top, of a call of context rax to rcx. rdx: its number. Its t0 is
   still to come. */
    .macro take_record slow_entry
    add     rsi, THUNK_SIZE
    cmp     qword ptr [rsi + RECORD_SLOT], 0
    je      \slow_entry
7:  mov     rdx, [rsp]
    mov     [rsi + RECORD_SLOT], rsp
    mov     [rsi + RECORD_NODE], rax
    mov     [rsi + RECORD_RET], rdx
    mov     [rsi + RECORD_BODY], rcx
    mov     rdx, [rax + NODE_CALLS]
    inc     rdx
    mov     [rsi + RECORD_MARK], rdx
    mov     [rdi + THREAD_TOP], rsi
    cmp     [rsi + RECORD_SLOT], rsp        /* used by a handler before it became the top? */
    jne     7b
    mov     [rax + NODE_CALLS], rdx
    .endm

/*
 * Call-trace mode: the event of node \node at the thread's time \time, both of which it destroys, as
 * it does \at. The place is taken by one instruction, so that a handler takes others. Where there is
 * no room, or the time is out of reach, to \slow, with node and time as they were.
 */
    .macro note_event node, time, at, is_end, slow
    mov     \at, \time
    sub     \at, [rdi + THREAD_EVENT_BASE]
    shr     \at, 32
    jnz     \slow
    mov     \at, 8
    xadd    [rdi + THREAD_EVENT_NEXT], \at
    cmp     \at, [rdi + THREAD_EVENT_END]
    jae     \slow
    sub     \time, [rdi + THREAD_EVENT_BASE]
    .if \is_end
    bts     \time, 32
    .endif
    sub     \node, [rdi + THREAD_TRACE]
    shl     \node, EVENT_SHIFT_OF_OFFSET
    or      \time, \node
    mov     [\at], \time
    .endm

/*
 * A tail call to rcx out of the record rsi, whose thunk waits at the slot. rax: its context, as
 * umbra_slow_entry finds it. What is not as usual, or not known yet, is for that. Clobbers rdx.
 */
    .macro tail_call_context slow
    lea     rdx, [rsi - RECORD_DISTANCE + THUNK_RETURN]
    cmp     [rsp], rdx
    jne     \slow
    mov     rdx, [rsi + RECORD_NODE]
    mov     eax, [rdx + NODE_CONTEXT]
    cmp     qword ptr [rdx + NODE_SITE], 0  /* in a chain of jumps, below the first */
    cmovs   eax, [rdx + NODE_PARENT]
    key_of_callee
    hinted_context \slow, [rsi + RECORD_RET]
    mov     rdx, [rsi + RECORD_RET]
    bts     rdx, SITE_TAIL_BIT
    cmp     [rax + NODE_SITE], rdx
    jne     \slow
    .endm

/* Makes rsi, the record of an invocation of node rdi that ends, that of one of node rax that begins:
   in the order of invocation_replace. Clobbers rdx. */
    .macro replace_invocation
    mov     rdx, [rdi + NODE_EXITS]
    inc     rdx
    or      rdx, [rip + mark_leaving]
    mov     [rsi + RECORD_MARK], rdx
    and     rdx, [rip + mark_count]
    mov     [rdi + NODE_EXITS], rdx
    mov     qword ptr [rsi + RECORD_MARK], 0
    mov     [rsi + RECORD_NODE], rax
    mov     rdx, [rax + NODE_CALLS]
    inc     rdx
    mov     [rsi + RECORD_MARK], rdx
    mov     [rax + NODE_CALLS], rdx
    .endm

/* Entry of a call while recording: every call timed, or, adaptive, those whose turn it is. */
    .macro entry_hook name, adaptive, events
    hidden_function \name
    .cfi_startproc
    save_flags_and_work_registers
    current_thread slow_entry\@
    mov     rsi, [rdi + THREAD_TOP]
    mov     rax, rsp                        /* on the stack that this stash belongs to? */
    sub     rax, [rdi + THREAD_STACK_LOW]
    cmp     rax, [rdi + THREAD_STACK_SIZE]
    jae     slow_entry\@
    cmp     [rsi + RECORD_SLOT], rsp        /* is the invocation on top still live, and */
    jbe     no_call_from_top\@              /* is this not a tail call from it? */

    callee_key                              /* the context (parent, call site, function) */
    hinted_context search\@, [rsp]
    mov     rdx, [rsp]
    cmp     [rax + NODE_SITE], rdx
    jne     search\@

1:
    .if \adaptive
    cmp     dword ptr [rax + NODE_FUNCTION], 0
    js      leaf\@
    .endif
    take_record slow_entry\@
    .if \adaptive
    sub     edx, [rax + NODE_NEXT]
    jns     choose\@
    mov     rdi, [rdi + THREAD_TRACE]
    mov     rdi, [rdi + TRACE_TICK]
    mov     [rsi + RECORD_T0], rdi
    lea     rsi, [rsi - RECORD_DISTANCE]    /* which leaves the low bits as they are */
    mov     [rsp - 64], rsi
    enter_thunk_by_depth THUNK_SIZE
    .endif
2:  lea     rdx, [rsi - RECORD_DISTANCE]
    mov     [rsp - 64], rdx
    read_time
    mov     [rsi + RECORD_T0], rax
    .if \events
    mov     rdx, [rsi + RECORD_NODE]
    note_event rdx, rax, rcx, 0, event\@
noted\@:
    .endif
    restore_flags_and_work_registers
    enter_thunk

    .if \events
event\@:                                    /* a fresh segment, or a new base */
    mov     rsi, rdx
    mov     rdx, rax
    call_c  umbra_slow_event_entry
    jmp     noted\@
    .endif

    .if \adaptive
leaf\@:                                     /* no thunk unless it is timed */
    mov     rdx, [rax + NODE_PASSED]
    inc     rdx
    mov     esi, [rax + NODE_CALLS]
    add     esi, edx
    sub     esi, [rax + NODE_NEXT]
    jns     3f
    mov     [rax + NODE_PASSED], rdx
    mov     [rsp - 64], rcx
    restore_flags_and_work_registers
    jmp     [rsp - 64]
3:  mov     rsi, [rdi + THREAD_TOP]
    take_record slow_entry\@
    add     edx, [rax + NODE_PASSED]
    jmp     4f
choose\@:                                   /* timed, for a gap of calls; the next gap */
    add     edx, [rax + NODE_NEXT]
4:  movzx   ecx, byte ptr [rax + NODE_GAP]
    mov     [rsi + RECORD_WEIGHT], rcx
    movzx   ecx, byte ptr [rax + NODE_MASK]
    mov     [rsp - 72], rsi
    movzx   esi, byte ptr [rax + NODE_RANDOM]
    and     esi, ecx
    shr     ecx, 1
    lea     ecx, [rsi + rcx + 1]
    mov     rsi, [rsp - 72]
    add     edx, ecx
    mov     [rax + NODE_NEXT], edx
    mov     [rax + NODE_GAP], cl
    jmp     2b
    .endif

search\@:                                   /* no hint: the table knows, and is one from now on */
    callee_key
    first_place
    mov     [rsp - 72], rsi
5:  and     rax, [rdi + THREAD_TABLE_MASK]
    mov     rsi, rax
    add     rsi, [rdi + THREAD_TABLE]
    mov     esi, [rsi]
    test    esi, esi
    jz      slow_entry\@
    mov     [rsp - 88], rsi
    shl     rsi, 6
    add     rsi, [rdi + THREAD_TRACE]
    add     rax, 4
    cmp     [rsi + NODE_PARENT], rdx
    jne     5b
    mov     [rsp - 80], rdx
    mov     rdx, [rsp]
    cmp     [rsi + NODE_SITE], rdx
    mov     rdx, [rsp - 80]
    jne     5b
    hint_place [rsp]
    mov     edx, [rsp - 88]
    mov     [rdi + rax + THREAD_HINTS], edx
    mov     rax, rsi
    mov     rsi, [rsp - 72]
    jmp     1b

no_call_from_top\@:
    .ifeq \events
    jne     slow_entry\@                    /* its frame is gone; else a tail call */
    .if \adaptive
    mov     rax, [rdi + THREAD_TRACE]       /* neither timed, nor has a tick gone by */
    mov     rax, [rax + TRACE_TICK]
    cmp     [rsi + RECORD_T0], rax
    jne     slow_entry\@
    .endif
    tail_call_context slow_entry\@
    mov     [rsp - 64], rcx
    .if \adaptive
    mov     edx, [rax + NODE_CALLS]
    add     edx, [rax + NODE_PASSED]
    inc     edx
    sub     edx, [rax + NODE_NEXT]
    jns     slow_entry\@                    /* its turn to be timed */
    mov     rdi, [rsi + RECORD_NODE]
    .else
    mov     rcx, rax
    read_time
    mov     rdi, [rsi + RECORD_NODE]
    mov     rdx, rax
    sub     rdx, [rsi + RECORD_T0]
    add     [rdi + NODE_TICKS], rdx
    mov     [rsi + RECORD_T0], rax
    mov     rax, rcx
    .endif
    replace_invocation
    restore_flags_and_work_registers
    jmp     [rsp - 64]
    .endif
slow_entry\@:
    mov     rdi, rsp
    mov     rsi, rcx
    call_c  umbra_slow_entry                /* rax: where to go on, rdx: is it a thunk? */
    mov     [rsp - 64], rax
    test    edx, edx
    jz      6f
    restore_flags_and_work_registers
    enter_thunk
6:  restore_flags_and_work_registers
    jmp     [rsp - 64]
    .cfi_endproc
    .size   \name, . - \name
    .endm

    entry_hook umbra_record_exact, 0, 0
    entry_hook umbra_record_adaptive, 1, 0
    entry_hook umbra_record_events, 0, 1

/* The invocation of record rcx, of thread rdi and context rsi, has returned. Clobbers rax. */
    .macro count_exit
    mov     rax, [rsi + NODE_EXITS]
    inc     rax
    not     rax
    mov     [rcx + RECORD_SLOT], rax
    not     rax
    mov     [rsi + NODE_EXITS], rax
    lea     rax, [rcx - THUNK_SIZE]
    mov     [rdi + THREAD_TOP], rax
    .endm

/* A recorded call has returned: rax = its record, the program's rax at [rsp - 16]. */
    .macro exit_hook name, adaptive, events
    hidden_function \name
    .cfi_startproc
    mov     [rsp - 24], rcx
    mov     rcx, rax
    lahf
    seto    al
    mov     [rsp - 32], rax
    .ifeq \adaptive
    mov     [rsp - 40], rdx
    rdtsc
    shl     rdx, 32
    or      rdx, rax
    .endif
    mov     [rsp - 48], rsi
    mov     [rsp - 56], rdi
    current_thread slow_exit\@
    cmp     [rdi + THREAD_TOP], rcx
    jne     slow_exit\@
    .if \adaptive
    mov     rsi, [rdi + THREAD_TRACE]
    mov     rax, [rcx + RECORD_T0]
    test    rax, rax
    jns     timed\@
    cmp     rax, [rsi + TRACE_TICK]         /* a tick went by: it may have taken long */
    jne     slow_exit\@
    mov     rsi, [rcx + RECORD_NODE]
    count_exit
    .else
    mov     rsi, [rcx + RECORD_NODE]
    sub     rdx, [rdi + THREAD_STOPPED]
    .if \events
    mov     [rsp - 64], r8
    mov     rax, rdx
    note_event rsi, rax, r8, 1, event\@
noted\@:
    mov     r8, [rsp - 64]
    mov     rsi, [rcx + RECORD_NODE]
    .endif
    sub     rdx, [rcx + RECORD_T0]
    add     [rsi + NODE_TICKS], rdx
    count_exit
    mov     rdx, [rsp - 40]
    .endif
1:  restore_all_but_rdx
    ret

    .if \events
event\@:
    mov     [rsp - 72], rcx
    mov     [rsp - 80], rdx
    call_c  umbra_slow_event_end
    mov     rcx, [rsp - 72]
    mov     rdx, [rsp - 80]
    mov     rdi, [rip + umbra_thread@gottpoff]
    mov     rdi, fs:[rdi]
    jmp     noted\@
    .endif

    .if \adaptive
timed\@:
    mov     [rsp - 40], rdx
    rdtsc
    mov     rsi, [rcx + RECORD_NODE]
    shl     rdx, 32
    or      rdx, rax
    imul    eax, eax, TIMING_MIX
    shr     eax, 24
    mov     [rsi + NODE_RANDOM], al
    sub     rdx, [rdi + THREAD_STOPPED]
    sub     rdx, [rcx + RECORD_T0]
    inc     dword ptr [rsi + NODE_TIMED]
    cmp     rdx, TIMING_SHORT
    jae     4f
    movzx   eax, byte ptr [rsi + NODE_MASK]
    lea     eax, [rax + rax + 1]
    and     eax, TIMING_MASK_OF_MANY
    cmp     dword ptr [rsi + NODE_TIMED], TIMING_MANY
    jae     5f
    and     eax, TIMING_MASK
5:  mov     [rsi + NODE_MASK], al
2:  imul    rdx, [rcx + RECORD_WEIGHT]
3:  add     [rsi + NODE_TICKS], rdx
    count_exit
    mov     rdx, [rsp - 40]
    jmp     1b
4:  cmp     rdx, TIMING_LONG
    jb      2b
    mov     byte ptr [rsi + NODE_MASK], 0
    cmp     rdx, TIMING_SLOW
    jb      2b
    jmp     3b
    .endif

slow_exit\@:
    .if \adaptive
    mov     [rsp - 40], rdx
    .endif
    mov     rdi, rcx
    mov     rsi, rsp
    call_c  umbra_slow_exit
    mov     rdx, [rsp - 40]
    jmp     1b
    .cfi_endproc
    .size   \name, . - \name
    .endm

    exit_hook umbra_exit_exact, 0, 0
    exit_hook umbra_exit_adaptive, 1, 0
    exit_hook umbra_exit_events, 0, 1

    .section .rodata
    .balign 8
hash_b:
    .quad   HASH_B
mark_leaving:
    .quad   MARK_LEAVING
mark_count:
    .quad   ~MARK_BITS

    .section .note.GNU-stack, "", @progbits
