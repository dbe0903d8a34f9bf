/*
 * Entry and exit of every recorded call, as in linux/x86_64/entry.S, which tells the way of a call, and
 * with the steps of entry.inc. What is different here:
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
 * Below the stack pointer. The hooks keep what they use in the 96 bytes below rsp, the stub before
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

#include "hooks/x86_64/invocation.inc"

#define SLOT r8
#include "hooks/x86_64/entry.inc"

    .macro save_flags
    mov     rcx, rax
    lahf
    seto    al
    mov     [rsp - 32], rax
    .endm

    .macro save_flags_and_work_registers
    save_flags
    mov     [rsp - 40], rdx
    mov     [rsp - 48], rsi
    mov     [rsp - 56], rdi
    mov     [rsp - 96], r8
    .endm

    .macro restore_all_but_r8
    mov     rax, [rsp - 32]
    add     al, 0x7f                /* overflow if it was set */
    sahf
    mov     rdi, [rsp - 56]
    mov     rsi, [rsp - 48]
    mov     rdx, [rsp - 40]
    mov     rcx, [rsp - 24]
    mov     rax, [rsp - 16]
    .endm

    .macro restore_flags_and_work_registers
    mov     r8, [rsp - 96]
    restore_all_but_r8
    .endm

    /* rdi: the calling thread's state, or to \none. */
    .macro current_thread none
    mov     rdi, [rip + umbra_thread_slot]
    mov     rdi, gs:[rdi]
    test    rdi, rdi
    jz      \none
    .endm

    /*
     * The prologue and epilogue of a function that calls C with what save_flags_and_work_registers
     * has left; r8 stays. The C functions use no vector registers. A struct destination goes to rax and rdx,
     * if `returns_destination`: its place is then the first argument, rcx.
     *
     *      rsp       32             48      56        88       104   200
     *      | shadow  | destination  | flags | r8 … r11 | unused | the hook's 96 bytes
     */
    .macro call_c function, returns_destination=0
    lea     rsp, [rsp - 200]
    .seh_stackalloc 200
    .seh_endprologue
    mov     [rsp + 56], r8
    mov     [rsp + 64], r9
    mov     [rsp + 72], r10
    mov     [rsp + 80], r11
    pushfq
    pop     qword ptr [rsp + 48]
    cld
    .if \returns_destination
    mov     r8, rcx
    lea     rcx, [rsp + 32]
    .endif
    call    \function
    .if \returns_destination
    mov     rax, [rsp + 32]
    mov     rdx, [rsp + 40]
    .endif
    push    qword ptr [rsp + 48]
    popfq
    mov     r8, [rsp + 56]
    mov     r9, [rsp + 64]
    mov     r10, [rsp + 72]
    mov     r11, [rsp + 80]
    add     rsp, 200
    .endm

    .macro label_of_function name
    .balign 64
    .globl  \name
    .def    \name
    .scl    2
    .type   32
    .endef
    .endm

    .macro function_begin name
    label_of_function \name
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
thunk_frame:                                /* thunkstash/windows/x86_64/range.c has the codes explained */
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
    leaf_begin umbra_enter_13
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
    call_c  umbra_first_call
    mov     rdi, rax
    jmp     first_hook_known
    .seh_endproc

/* There is never a ring of events. */
    .globl  umbra_record_events, umbra_exit_events
    .set    umbra_record_events, umbra_record_exact
    .set    umbra_exit_events, umbra_exit_exact

    /* On to the thunk at [rsp - 64]. */
    .macro enter_thunk
    lea     rsp, [rsp + 8]
    as_in_thunk jmp [rsp - 72]
    .endm

    /* Entry of a call while recording: every call timed, or, adaptive, those whose turn it is. It has
       no entry in .pdata: a leaf, but for as_in_thunk. */
    .macro entry_hook name, adaptive
    label_of_function \name
\name:
    save_flags_and_work_registers
    current_thread slow\@
    mov     rax, [rdi + THREAD_TRACE]
    cmp     dword ptr [rax + TRACE_PAUSED], 0
    jne     paused
    mov     rsi, [rdi + THREAD_TOP]
    mov     rax, rsp                        /* on the stack that this stash belongs to? */
    sub     rax, [rdi + THREAD_STACK_LOW]
    cmp     rax, [rdi + THREAD_STACK_SIZE]
    jae     slow\@
    lea     SLOT, [rsp + SLOT_BIAS]         /* is the invocation on top still live, and */
    cmp     [rsi + RECORD_SLOT], SLOT       /* is this not a tail call from it? */
    jbe     no_call_from_top\@

    callee_key                              /* the context (parent, call site, function) */
    hinted_context search\@, [rsp]
    mov     rdx, [rsp]
    cmp     [rax + NODE_SITE], rdx
    jne     other_site\@

1:
    .if \adaptive
    cmp     dword ptr [rax + NODE_FUNCTION], 0
    js      leaf\@
    .endif
    take_record slow\@
    .if \adaptive
    sub     edx, [rax + NODE_NEXT]
    jns     choose\@
untimed\@:
    mov     rdi, [rdi + THREAD_TRACE]
    mov     rax, [rdi + TRACE_TICK]
    jmp     3f
    .endif
2:  read_time
3:  mov     [rsi + RECORD_T0], rax
    lea     rax, [rsi - RECORD_DISTANCE + THUNK_RETURN]
    mov     [rsp], rax
    lea     rsi, [rsi - RECORD_DISTANCE]    /* which leaves the low bits as they are */
    mov     [rsp - 64], rsi
    enter_thunk_by_depth THUNK_SIZE

    .if \adaptive
leaf\@:                                     /* no thunk unless it is timed */
    pass_leaf 4f
4:  add     edx, [rax + NODE_CALLS]
    put_off_if_never leaf\@
    mov     rsi, [rdi + THREAD_TOP]
    take_record slow\@
    add     edx, [rax + NODE_PASSED]
    jmp     5f
choose\@:                                   /* timed, for a gap of calls */
    add     edx, [rax + NODE_NEXT]
    put_off_if_never untimed\@
5:  choose_gap
    jmp     2b
    .endif

other_site\@:                               /* of the same key */
    mov     rdx, [rax + NODE_PARENT]
search\@:                                   /* no hint: the table knows, and is one from now on */
    search_context slow\@
    jmp     1b

no_call_from_top\@:
    jne     slow\@                          /* its frame is gone; else a tail call */
    .if \adaptive
    same_tick slow\@
    .endif
    tail_call_context slow\@
    mov     [rsp - 64], rcx
    .if \adaptive
    untimed_tail_call slow\@
    .else
    end_of_timed_invocation
    .endif
    replace_invocation
    restore_flags_and_work_registers
    jmp     [rsp - 64]

slow\@:
    jmp     slow_entry
    .endm

    entry_hook umbra_record_exact, 0
    entry_hook umbra_record_adaptive, 1

paused:                                     /* by the service: on to the body */
    mov     [rsp - 64], rcx
    restore_flags_and_work_registers
    jmp     [rsp - 64]

entry_is_slow:
    mov     [rsp - 64], rax
    test    edx, edx
    jz      1f
    add     rax, THUNK_RETURN
    mov     [rsp], rax
    restore_flags_and_work_registers
    enter_thunk
1:  restore_flags_and_work_registers
    jmp     [rsp - 64]

    function_begin slow_entry
    mov     rdx, rsp
    call_c  umbra_slow_entry, 1             /* of rsp and rcx. rax: where to go on, rdx: is it a thunk? */
    jmp     entry_is_slow
    .seh_endproc

/* A recorded call has returned: rax = its record, the program's rax at [rsp - 16]. Once the slot is
   restored, a leaf. */
    .macro exit_hook name, adaptive
    .balign 64
    .globl  \name
\name:
    as_in_thunk push qword ptr [rax + RECORD_RET]
    mov     [rsp - 24], rcx
    save_flags
    mov     [rsp - 40], rdx
    .ifeq \adaptive
    rdtsc
    shl     rdx, 32
    or      rdx, rax
    .endif
    mov     [rsp - 48], rsi
    mov     [rsp - 56], rdi
    current_thread slow\@
    cmp     [rdi + THREAD_TOP], rcx
    jne     slow\@
    .if \adaptive
    mov     rsi, [rdi + THREAD_TRACE]
    mov     rax, [rcx + RECORD_T0]
    cmp     rax, [rsi + TRACE_TICK]
    jne     noticed\@
    mov     rsi, [rcx + RECORD_NODE]
    .else
    mov     rsi, [rcx + RECORD_NODE]
    sub     rdx, [rdi + THREAD_STOPPED]
    sub     rdx, [rcx + RECORD_T0]
    add     [rsi + NODE_TICKS], rdx
    .endif
1:  count_exit
    restore_all_but_r8
    ret

    .if \adaptive
noticed\@:                                  /* timed; else a tick went by: it may have taken long */
    test    rax, rax
    js      slow\@
    add_timed_call
    jmp     1b
    add_long_timed_call
    .endif

slow\@:
    jmp     slow_exit
    .endm

    exit_hook umbra_exit_exact, 0
    exit_hook umbra_exit_adaptive, 1

exit_is_done:
    restore_all_but_r8
    ret

    function_begin slow_exit
    mov     rdx, rsp
    call_c  umbra_slow_exit
    jmp     exit_is_done
    .seh_endproc

    .section .rdata, "dr"
    .balign 8
hash_b:
    .quad   HASH_B
mark_leaving:
    .quad   MARK_LEAVING
mark_count:
    .quad   ~MARK_BITS
