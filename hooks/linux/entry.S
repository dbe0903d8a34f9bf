/*
 * Entry and exit of every recorded call.
 *
 *      caller:    call function                 rsp = S, [S] = return address R
 *      function:  jmp  stub
 *      stub:      mov  [rsp - 16], rax
 *                 lea  rax, [body]
 *                 jmp  [entry_hook]     ->  umbra_record: note the call, rsp = S + 8
 *      thunk:     call [record.body]            [S] = T, rsp = S
 *      body:      … ret                         rsp = S + 8
 *      T:         push [record.ret]             [S] = R, rsp = S
 *                 …                     ->  umbra_exit: note the end; ret
 *
 * Both hooks keep every register and all flags. They save what they use below the stack pointer,
 * in the red zone, which belongs to whoever runs at a function's boundary and which signal
 * handlers leave alone:
 *
 *      rsp - 16  rax      -40  rdx      -64  r8
 *          - 24  rcx      -48  rsi      -72  r9
 *          - 32  flags    -56  rdi      -80  where to go on
 *
 * A signal may arrive anywhere. Its handler may make recorded calls (these use the records above
 * the top, and are gone when it returns) or leave by longjmp. So the top is advanced before the
 * record above it is filled in, and calls and exits are counted by storing the new count in the
 * record's mark first, then in the node (layout.h): a hook that never goes on was counted either
 * not at all or once.
 */
#include "thunkstash/layout.h"
#include "trace/image_offsets.h"

    .intel_syntax noprefix
    .text

    .macro save_flags_and_work_registers
    mov     [rsp - 24], rcx
    mov     rcx, rax
    lahf
    seto    al
    mov     [rsp - 32], rax
    mov     [rsp - 40], rdx
    mov     [rsp - 48], rsi
    mov     [rsp - 56], rdi
    mov     [rsp - 64], r8
    mov     [rsp - 72], r9
    .endm

    .macro restore_flags_and_work_registers
    mov     rax, [rsp - 32]
    add     al, 0x7f                /* overflow if it was set */
    sahf
    mov     r9, [rsp - 72]
    mov     r8, [rsp - 64]
    mov     rdi, [rsp - 56]
    mov     rsi, [rsp - 48]
    mov     rdx, [rsp - 40]
    mov     rcx, [rsp - 24]
    mov     rax, [rsp - 16]
    .endm

    /* Calls C with what save_flags_and_work_registers has left; rsp is as at the hook's entry
       before and after. C is compiled without vector registers. */
    .macro call_c function
    lea     rsp, [rsp - 128]
    .cfi_adjust_cfa_offset 128
    push    r10
    .cfi_adjust_cfa_offset 8
    push    r11
    .cfi_adjust_cfa_offset 8
    pushfq
    .cfi_adjust_cfa_offset 8
    cld
    call    \function
    popfq
    .cfi_adjust_cfa_offset -8
    pop     r11
    .cfi_adjust_cfa_offset -8
    pop     r10
    .cfi_adjust_cfa_offset -8
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

/* Not recording: on to the body. */
    hidden_function umbra_pass
    .cfi_startproc
    mov     [rsp - 24], rax
    mov     rax, [rsp - 16]
    jmp     [rsp - 24]
    .cfi_endproc
    .size   umbra_pass, . - umbra_pass

/* First call into an image since it was loaded: the entry hook as the dynamic linker binds it. */
    .balign 64
    .globl  umbra_enter
    .type   umbra_enter, @function
umbra_enter:
    .cfi_startproc
    save_flags_and_work_registers
    lea     rdi, [rip + umbra_pass]
    cmp     dword ptr [rip + umbra_ready], 0
    je      1f
    mov     [rsp - 88], rcx
    mov     rdi, rcx
    call_c  umbra_first_call
    mov     rcx, [rsp - 88]
    mov     rdi, rax
1:  mov     [rsp - 80], rdi
    mov     [rsp - 88], rcx
    restore_flags_and_work_registers
    mov     rax, [rsp - 88]
    jmp     [rsp - 80]
    .cfi_endproc
    .size   umbra_enter, . - umbra_enter

/*
 * Call-trace mode: the event of node \node at the thread's time \time, both of which it destroys, as
 * it does \at. The place is taken by one instruction, so that a handler takes others. Where there is
 * no room, or the time is out of reach, to \slow, with node and time as they were.
 */
    .macro note_event node, time, at, flags, slow
    mov     \at, \time
    sub     \at, [rdi + THREAD_EVENT_BASE]
    shr     \at, 32
    jnz     \slow
    mov     \at, 8
    xadd    [rdi + THREAD_EVENT_NEXT], \at
    cmp     \at, [rdi + THREAD_EVENT_END]
    jae     \slow
    sub     \time, [rdi + THREAD_EVENT_BASE]
    .if \flags
    bts     \time, 32
    .endif
    sub     \node, [rdi + THREAD_TRACE]
    shl     \node, EVENT_SHIFT_OF_OFFSET
    or      \time, \node
    mov     [\at], \time
    .endm

/* Entry of a call while recording. */
    .macro entry_hook name, events
    hidden_function \name
    .cfi_startproc
    save_flags_and_work_registers
    mov     rdi, [rip + umbra_thread@gottpoff]
    mov     rdi, fs:[rdi]
    test    rdi, rdi
    jz      slow_entry\@
    mov     rax, rsp                        /* on the stack that this stash belongs to? */
    sub     rax, [rdi + THREAD_STACK_LOW]
    cmp     rax, [rdi + THREAD_STACK_SIZE]
    jae     slow_entry\@
    mov     rsi, [rdi + THREAD_TOP]         /* is the invocation on top still live, and */
    cmp     [rsi + RECORD_SLOT], rsp        /* is this not a tail call from it? */
    jbe     slow_entry\@

    mov     r8, [rsp]                       /* the context (parent, call site, function) */
    movsxd  rdx, dword ptr [rcx - 8]
    mov     edx, [rcx + rdx + IMAGE_FIRST_FUNCTION]
    add     edx, [rcx - 4]
    shl     rdx, 32
    mov     rax, [rsi + RECORD_NODE]
    mov     eax, [rax + NODE_CONTEXT]
    or      rdx, rax
    mov     rax, r8
    imul    rax, [rip + hash_a]
    add     rax, rdx
    imul    rax, [rip + hash_b]
    shr     rax, 32
1:  and     rax, [rdi + THREAD_TABLE_MASK]
    mov     r9, [rdi + THREAD_TABLE]
    mov     r9d, [r9 + rax * 4]
    test    r9d, r9d
    jz      slow_entry\@
    shl     r9, 6
    add     r9, [rdi + THREAD_TRACE]
    cmp     [r9 + NODE_SITE], r8
    jne     2f
    cmp     [r9 + NODE_PARENT], rdx
    jne     2f

    add     rsi, THUNK_SIZE                 /* a record for it */
    cmp     qword ptr [rsi + RECORD_SLOT], 0
    je      slow_entry\@
    mov     rax, [r9 + NODE_CALLS]
    movabs  rdx, MARK_LIVE
    inc     rax
    or      rdx, rax
    mov     [rsi + RECORD_SLOT], rsp
    mov     [rdi + THREAD_TOP], rsi
    mov     [rsi + RECORD_NODE], r9
    mov     [rsi + RECORD_MARK], rdx
    mov     [rsi + RECORD_SLOT], rsp        /* a handler may have used the record in between */
    mov     [r9 + NODE_CALLS], rax
    mov     [rsi + RECORD_RET], r8
    mov     [rsi + RECORD_BODY], rcx
    mov     qword ptr [rsi + RECORD_PROBES], 0
    lea     r8, [rsi - RECORD_DISTANCE]
    mov     [rsp - 80], r8
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    sub     rax, [rdi + THREAD_STOPPED]
    mov     [rsi + RECORD_T0], rax
    .if \events
    note_event r9, rax, rdx, 0, event\@
4:
    .endif
    restore_flags_and_work_registers
to_thunk\@:
    lea     rsp, [rsp + 8]
    .cfi_remember_state
    .cfi_def_cfa_offset 0
    jmp     [rsp - 88]
    .cfi_restore_state

    .if \events
event\@:                                    /* a fresh segment, or a new base */
    mov     rsi, r9
    mov     rdx, rax
    call_c  umbra_slow_event_entry
    jmp     4b
    .endif

2:  inc     rax                             /* another context with the same hash */
    jmp     1b

slow_entry\@:
    mov     rdi, rsp
    mov     rsi, rcx
    call_c  umbra_slow_entry                /* rax: where to go on, rdx: is it a thunk? */
    mov     [rsp - 80], rax
    test    edx, edx
    jz      3f
    restore_flags_and_work_registers
    jmp     to_thunk\@
3:  restore_flags_and_work_registers
    jmp     [rsp - 80]
    .cfi_endproc
    .size   \name, . - \name
    .endm

    entry_hook umbra_record, 0
    entry_hook umbra_record_events, 1

/* A recorded call has returned: rax = its record, the program's rax at [rsp - 16]. */
    .macro exit_hook name, events
    hidden_function \name
    .cfi_startproc
    mov     [rsp - 24], rcx
    mov     rcx, rax
    lahf
    seto    al
    mov     [rsp - 32], rax
    mov     [rsp - 40], rdx
    rdtsc
    shl     rdx, 32
    or      rdx, rax
    mov     [rsp - 48], rsi
    mov     [rsp - 56], rdi
    mov     [rsp - 64], r8
    mov     [rsp - 72], r9
    mov     rdi, [rip + umbra_thread@gottpoff]
    mov     rdi, fs:[rdi]
    test    rdi, rdi
    jz      slow_exit\@
    cmp     [rdi + THREAD_TOP], rcx
    jne     slow_exit\@
    sub     rdx, [rdi + THREAD_STOPPED]
    mov     rsi, [rcx + RECORD_NODE]
    .if \events
    mov     rax, rdx
    mov     r8, rsi
    note_event r8, rax, r9, 1, event\@
4:
    .endif
    sub     rdx, [rcx + RECORD_T0]
    mov     rax, [rcx + RECORD_PROBES]
    mov     r8, [rsi + NODE_EXITS]
    movabs  r9, MARK_LEAVING
    inc     r8
    or      r9, r8
    mov     [rcx + RECORD_MARK], r9
    mov     [rsi + NODE_EXITS], r8
    add     [rsi + NODE_TICKS], rdx
    add     [rsi + NODE_PROBES], rax
    mov     r8, rax                         /* without the probes inside it */
    imul    r8, [rdi + THREAD_PROBE_TICKS]
    inc     rax
    add     [rcx - THUNK_SIZE + RECORD_PROBES], rax
    sub     rdx, r8
    cmp     rdx, [rsi + NODE_MAX]
    jg      new_max\@
1:  mov     eax, [rsi + NODE_MIN]
    cmp     rdx, rax
    jl      new_min\@
2:  lea     rax, [rcx - THUNK_SIZE]
    mov     [rdi + THREAD_TOP], rax
    mov     qword ptr [rcx + RECORD_SLOT], SLOT_FREE
    mov     qword ptr [rcx + RECORD_MARK], 0
3:  restore_flags_and_work_registers
    ret

    .if \events
event\@:
    mov     [rsp - 80], rcx
    mov     [rsp - 88], rdx
    call_c  umbra_slow_event_end
    mov     rcx, [rsp - 80]
    mov     rdx, [rsp - 88]
    mov     rdi, [rip + umbra_thread@gottpoff]
    mov     rdi, fs:[rdi]
    mov     rsi, [rcx + RECORD_NODE]
    jmp     4b
    .endif

new_max\@:
    mov     [rsi + NODE_MAX], rdx
    jmp     1b
new_min\@:
    xor     eax, eax
    test    rdx, rdx
    cmovs   rdx, rax
    mov     [rsi + NODE_MIN], edx
    jmp     2b

slow_exit\@:
    mov     rdi, rcx
    mov     rsi, rsp
    call_c  umbra_slow_exit
    jmp     3b
    .cfi_endproc
    .size   \name, . - \name
    .endm

    exit_hook umbra_exit, 0
    exit_hook umbra_exit_events, 1

    .section .rodata
    .balign 8
hash_a:
    .quad   HASH_A
hash_b:
    .quad   HASH_B

    .section .note.GNU-stack, "", @progbits
