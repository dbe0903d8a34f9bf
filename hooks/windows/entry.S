/*
 * Entry and exit of every recorded call, as in linux/entry.S, which tells the way of a call. What
 * is different here:
 *
 *   - The thread's state is found through a slot of the thread's environment block, gs.
 *   - A record's slot is S + 8 (thunkstash/layout.h).
 *   - No signal handler comes between two instructions, so the record is filled in once.
 *   - T is written to S before the thunk is entered, whose call writes it again; and the true
 *     return address is pushed by the exit hook, not in the thunk. So a thread can be stopped at any
 *     instruction and its stack walked: with rsp = S + 8, slot S always holds T.
 *   - Functions are described by .seh directives. The hooks themselves are leaves to an unwinder:
 *     all they do is done with rsp = S. Slow paths are functions of their own, entered by a jump,
 *     with a prologue and an epilogue as Windows knows them.
 *
 * Below the stack pointer. The hooks keep what they use in the 88 bytes below rsp, the stub before
 * them in 24. Windows promises nothing for these bytes: there is no red zone. What could write
 * there runs on this thread's stack without having been called:
 *
 *   - An exception's dispatcher, for a fault of these very instructions. They touch the stack, the
 *     thread's state, records and the trace, all of which are there. A stack's guard page is dealt
 *     with by the system itself, without a dispatcher; if the stack cannot grow any more, the
 *     exception leads away from here and what was saved is not needed.
 *   - An asynchronous procedure call, which is delivered when the thread waits for it. The hooks
 *     do not wait.
 *   - A debugger that calls a function of the program. It stops the thread first, and can do so in
 *     these instructions; it would have to be asked to just there.
 *   - Whoever else stops the thread, a sampler, say, reads registers and stack. It writes to the
 *     stack only to hijack a return address, which is at S and above.
 *
 * Around all C code, rsp is moved below what was saved.
 */
    .intel_syntax noprefix
    .text

#include "hooks/invocation.inc"

    .macro save_flags_and_work_registers
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

    /* The prologue and epilogue of a function that calls C with what save_flags_and_work_registers
       has left. The C functions have the System V convention, and use no vector registers. */
    .macro call_c function
    lea     rsp, [rsp - 152]
    .seh_stackalloc 152
    .seh_endprologue
    mov     [rsp + 8], r10
    mov     [rsp + 16], r11
    pushfq
    pop     qword ptr [rsp]
    cld
    call    \function
    push    qword ptr [rsp]
    popfq
    mov     r10, [rsp + 8]
    mov     r11, [rsp + 16]
    add     rsp, 152
    .endm

    .macro function_begin name
    .balign 64
    .globl  \name
    .def    \name
    .scl    2
    .type   32
    .endef
    .seh_proc \name
\name:
    .endm

    .macro leaf_begin name
    function_begin \name
    .seh_endprologue
    .endm

    /* One instruction outside a thunk where everything is as within: rsp = S + 8, and S holds T. */
    .macro as_in_thunk instruction:vararg
begin_\@:
    \instruction
end_\@:
    .section .pdata, "dr"
    .rva    begin_\@, end_\@, thunk_frame
    .text
    .endm

    .section .xdata, "dr"
    .balign 4
thunk_frame:                                /* thunkstash/windows/range.c has the codes explained */
    .byte   2, 0, 6, 1 << 4 | 4
    .byte   0, 3, 0, 2, 0, 4 << 4, 0, 1
    .short  (RECORD_DISTANCE - THUNK_RETURN - 8) / 8
    .byte   0, 10
    .text

/* Not recording yet: on to the body. */
    leaf_begin umbra_pass
    mov     [rsp - 32], rax
    mov     rcx, [rsp - 24]
    mov     rax, [rsp - 16]
    jmp     [rsp - 32]
    .seh_endproc

/* First call into an image since it was loaded: the entry hook as the loader binds it. */
    leaf_begin umbra_enter_4
    save_flags_and_work_registers
    mov     [rsp - 88], rcx
    lea     rdi, [rip + umbra_pass]
    cmp     dword ptr [rip + umbra_ready], 0
    jne     first_call
first_hook_known:
    mov     [rsp - 80], rdi
    restore_flags_and_work_registers
    mov     rax, [rsp - 88]
    jmp     [rsp - 80]
    .seh_endproc

    function_begin first_call
    mov     rdi, rcx
    call_c  umbra_first_call
    mov     rdi, rax
    jmp     first_hook_known
    .seh_endproc

/* Entry of a call while recording: all are timed (hooks/system.h), and there is never a ring of
   events. */
    .globl  umbra_record_adaptive, umbra_exit_adaptive, umbra_record_events, umbra_exit_events
    .set    umbra_record_events, umbra_record_exact
    .set    umbra_exit_events, umbra_exit_exact
    .set    umbra_record_adaptive, umbra_record_exact
    .set    umbra_exit_adaptive, umbra_exit_exact

    leaf_begin umbra_record_exact
    save_flags_and_work_registers
    mov     rdi, [rip + umbra_thread_slot]
    mov     rdi, gs:[rdi]
    test    rdi, rdi
    jz      slow_entry
    mov     rax, rsp                        /* on the stack that this stash belongs to? */
    sub     rax, [rdi + THREAD_STACK_LOW]
    cmp     rax, [rdi + THREAD_STACK_SIZE]
    jae     slow_entry
    mov     rax, [rdi + THREAD_TRACE]
    cmp     dword ptr [rax + TRACE_PAUSED], 0
    jne     paused
    mov     rsi, [rdi + THREAD_TOP]         /* is the invocation on top still live, and */
    lea     rax, [rsp + SLOT_BIAS]          /* is this not a tail call from it? */
    cmp     [rsi + RECORD_SLOT], rax
    jbe     slow_entry

    mov     r8, [rsp]                       /* the context (parent, call site, function) */
    callee_key
    context_hash rax, r8
    mov     [rsp - 80], rax
    shl     rax, 3
look_up:
    and     rax, [rdi + THREAD_TABLE_MASK]
    mov     r9, [rdi + THREAD_TABLE]
    mov     r9, [r9 + rax]                  /* node and hash */
    test    r9d, r9d
    jz      slow_entry
    mov     [rsp - 88], r9
    shr     r9, 32
    cmp     r9d, [rsp - 80]
    jne     next_context
    mov     r9d, [rsp - 88]
    shl     r9, 6
    add     r9, [rdi + THREAD_TRACE]
    cmp     [r9 + NODE_SITE], r8
    jne     next_context
    cmp     [r9 + NODE_PARENT], rdx
    jne     next_context

    add     rsi, THUNK_SIZE                 /* a record for it */
    cmp     qword ptr [rsi + RECORD_SLOT], 0
    je      slow_entry
    lea     rax, [rsp + SLOT_BIAS]
    mov     [rsi + RECORD_SLOT], rax
    mov     [rdi + THREAD_TOP], rsi
    mov     rax, [r9 + NODE_CALLS]
    inc     rax
    mov     [rsi + RECORD_NODE], r9
    mov     [rsi + RECORD_MARK], rax
    mov     [r9 + NODE_CALLS], rax
    mov     [rsi + RECORD_RET], r8
    mov     [rsi + RECORD_BODY], rcx
    lea     r8, [rsi - RECORD_DISTANCE]
    lea     r9, [rsi - RECORD_DISTANCE + THUNK_RETURN]
    mov     [rsp - 80], r8
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    sub     rax, [rdi + THREAD_STOPPED]
    mov     [rsi + RECORD_T0], rax
    mov     [rsp], r9
    restore_flags_and_work_registers
to_thunk:
    lea     rsp, [rsp + 8]
    .seh_endproc
    as_in_thunk jmp [rsp - 88]

    leaf_begin record_aside
next_context:                               /* another context with the same hash */
    add     rax, 8
    jmp     look_up

paused:                                     /* by the service: on to the body */
    mov     [rsp - 80], rcx
    restore_flags_and_work_registers
    jmp     [rsp - 80]

entry_is_slow:
    mov     [rsp - 80], rax
    test    edx, edx
    jz      1f
    add     rax, THUNK_RETURN
    mov     [rsp], rax
    restore_flags_and_work_registers
    jmp     to_thunk
1:  restore_flags_and_work_registers
    jmp     [rsp - 80]
    .seh_endproc

    function_begin slow_entry
    mov     rdi, rsp
    mov     rsi, rcx
    call_c  umbra_slow_entry                /* rax: where to go on, rdx: is it a thunk? */
    jmp     entry_is_slow
    .seh_endproc

/* A recorded call has returned: rax = its record, the program's rax at [rsp - 16]. */
    .balign 64
    .globl  umbra_exit_exact
umbra_exit_exact:
    as_in_thunk push qword ptr [rax + RECORD_RET]
    .seh_proc slot_is_restored
slot_is_restored:
    .seh_endprologue
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
    mov     rdi, [rip + umbra_thread_slot]
    mov     rdi, gs:[rdi]
    test    rdi, rdi
    jz      slow_exit
    cmp     [rdi + THREAD_TOP], rcx
    jne     slow_exit
    sub     rdx, [rdi + THREAD_STOPPED]
    sub     rdx, [rcx + RECORD_T0]
    mov     rsi, [rcx + RECORD_NODE]
    add     [rsi + NODE_TICKS], rdx
    count_exit
exit_is_done:
    restore_flags_and_work_registers
    ret
    .seh_endproc

    function_begin slow_exit
    mov     rdi, rcx
    mov     rsi, rsp
    call_c  umbra_slow_exit
    jmp     exit_is_done
    .seh_endproc

    .section .rdata, "dr"
    .balign 8
hash_b:
    .quad   HASH_B
