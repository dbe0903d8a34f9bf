/*
 * Entry of every recorded call; its exit is in exit.S.
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
 * The steps that Windows' hooks take, too, are macros in entry.inc. Both hooks keep every register
 * and all flags. They save what they use below the stack pointer,
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
 *   - Branches: seven that are taken, four of them indirect. The jump to the thunk has as many
 *     targets as the stack has frames. That processor predicts it by little more than the branch
 *     before, which is always the same. So conditional branches, which it predicts by a long
 *     history, choose one of several jumps by the depth (enter_thunk_by_depth): fib 12.5 ns a call
 *     without, 10.0 with; timed, 19.7 and 18.6, and four threads of it 21.1 and 19.8.
 *   - Memory: the context's line, and the line of the table that leads there. Programs have tens of
 *     thousands of contexts. The hints keep the way to recent ones in the nearest cache: Lua 22 ns
 *     a call without, 19.5 with. A hint's place depends on the slot's address, the call site and
 *     the body, not on the caller's context, which an earlier call may still be waiting for.
 *
 * A tail call costs less than a call: its thunk's call was made already, so the body is all that is
 * left to go to (slow_paths.c, tail_call).
 *
 * A signal may arrive anywhere. Its handler may make recorded calls (these use the records above
 * the top, and are gone when it returns) or leave by longjmp. So a record is filled in before it
 * becomes the top; a handler that used it in between has changed its slot, and it is filled in
 * again. Calls are counted by storing the new count in the record's mark first, then in the node,
 * exits with the new count in the slot (thunkstash/layout.h): a hook that never goes on was counted
 * either not at all or once.
 */
#include "hooks/linux/x86_64/hooks.inc"

#define SLOT rsp
#include "hooks/x86_64/entry.inc"

    /* On to the body at once, with all registers as the stub left them. */
    .macro go_to_body
    mov     [rsp - 32], rax
    mov     rcx, [rsp - 24]
    mov     rax, [rsp - 16]
    jmp     [rsp - 32]
    .endm

/* Not recording yet: on to the body. */
    hidden_function umbra_pass
    .cfi_startproc
    go_to_body
    .cfi_endproc
    .size   umbra_pass, . - umbra_pass

/* First call into an image since it was loaded: the entry hook as the dynamic linker binds it. */
    .balign 64
    .globl  umbra_enter_13
    .type   umbra_enter_13, @function
umbra_enter_13:
    .globl  umbra_enter
    .hidden umbra_enter
umbra_enter:                                /* the same, for the agent itself */
    .cfi_startproc
    save_flags_and_work_registers
    mov     [rsp - 72], rcx
    mov     rdi, rcx
    call_c  umbra_first_call
    mov     rcx, [rsp - 72]
    mov     [rsp - 64], rax
    restore_flags_and_work_registers
    mov     rax, [rsp - 72]
    jmp     [rsp - 64]
    .cfi_endproc
    .size   umbra_enter_13, . - umbra_enter_13

/* The hook of images whose calls are not recorded, but counted in each thread's lane (hooks/cover.h). */
    hidden_function umbra_count_enter
    .cfi_startproc
    mov     rcx, fs:[FRAME_LANE_AT]
    jrcxz   1f
    go_to_body
1:
    save_flags_and_work_registers
    mov     [rsp - 72], rcx
    call_c  umbra_take_lane
    restore_flags_and_work_registers
    mov     rax, [rsp - 72]
    go_to_body
    .cfi_endproc
    .size   umbra_count_enter, . - umbra_count_enter

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

/* Restores, and goes on to the thunk of the record rsi. */
    .macro enter_thunk_of_record
    lea     rsi, [rsi - RECORD_DISTANCE]    /* which leaves the low bits as they are */
    mov     [rsp - 64], rsi
    enter_thunk_by_depth THUNK_SIZE
    .endm

/*
 * [rsp - 80]: the note of the copy that is waiting (notes.h), which a record that begins now keeps. From
 * here on there is none, before the record is the top: a note above the top says that it is over.
 * Clobbers rdx.
 */
    .macro take_note
    mov     [rsp - 88], rdi
    mov     rdi, THREAD_WORDS
    mov     rdx, THREAD_SEGMENT:[rdi + SLOT_FRAMES + FRAMES_NOTE]
    mov     qword ptr THREAD_SEGMENT:[rdi + SLOT_FRAMES + FRAMES_NOTE], -1
    mov     [rsp - 80], rdx
    mov     rdi, [rsp - 88]
    .endm

/* \slot becomes the place in the shadow beside it, or, if there is none, on to \none. rdx: where the
   thread has its slot in thread-local storage. */
    .macro shadow_of slot, none
    sub     \slot, THREAD_SEGMENT:[rdx + SLOT_FRAMES + FRAMES_LOW]
    cmp     \slot, THREAD_SEGMENT:[rdx + SLOT_FRAMES + FRAMES_SIZE]
    jae     \none
    add     \slot, THREAD_SEGMENT:[rdx + SLOT_FRAMES + FRAMES_SHADOW]
    .endm

/* Takes a record as take_record does, for a copy's call: rsi is the place in the shadow beside its
   slot, which gets its links, rdx. edx becomes the call's number among all of its context's.
   Clobbers rcx. */
    .macro take_record_of_copy slow
    mov     [rsp - 96], rsi
    mov     [rsp - 104], rdx
    mov     rsi, [rdi + THREAD_TOP]
    take_record \slow, 1
    mov     rcx, [rsp - 96]
    mov     rdi, [rsp - 104]
    mov     [rcx], rdi
    add     edx, [rdi + LINKS_ENTERED]
    mov     rdi, THREAD_WORDS
    mov     rdi, THREAD_SEGMENT:[rdi]
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

    .if \adaptive
    cmp     word ptr [rcx], FRAME_BODY_JUMP /* a copy, which wants a context beside its frame? */
    je      copied\@
uncopied\@:
    mov     rdx, [rip + umbra_handler_return]
    cmp     rdx, [rsp]                      /* whoever was interrupted has called */
    je      slow_entry\@
    mov     rdx, THREAD_WORDS
    mov     rdx, THREAD_SEGMENT:[rdx + SLOT_FRAMES + FRAMES_NOTE]     /* or is a copy waiting, more recently? */
    cmp     rdx, [rsi + RECORD_SLOT]
    jbe     noted\@
    inc     rdx                             /* a copy above the record on top? */
    jnz     slow_entry\@
unnoted\@:
    .endif
    callee_key                              /* the context (parent, call site, function) */
8:  hinted_context search\@, [rsp]
    mov     rdx, [rsp]
    cmp     [rax + NODE_SITE], rdx
    jne     other_site\@

1:
    .if \adaptive
    test    dword ptr [rax + NODE_FUNCTION], FUNCTION_LEAF_OR_TIMED
    jnz     leaf_or_timed\@
    cmp     word ptr [rcx], FRAME_BODY_JUMP
    je      copied_record\@
    .endif
    take_record slow_entry\@, \adaptive
    .if \adaptive
    sub     edx, [rax + NODE_NEXT]
    jns     choose\@
untimed\@:
    mov     rdi, [rdi + THREAD_TRACE]
    mov     rdi, [rdi + TRACE_TICK]
    mov     [rsi + RECORD_T0], rdi
thunk\@:
    enter_thunk_of_record
    .endif

2:  read_time
    mov     [rsi + RECORD_T0], rax
    .if \adaptive
    jmp     thunk\@
    .else
    .if \events
    mov     rdx, [rsi + RECORD_NODE]
    note_event rdx, rax, rcx, 0, event\@
noted\@:
    .endif
    enter_thunk_of_record
    .endif

    .if \adaptive
copied\@:
    mov     rdx, THREAD_WORDS
    lea     rax, [rsp + 8]                  /* called by the copy that is waiting? */
    cmp     THREAD_SEGMENT:[rdx + SLOT_FRAMES + FRAMES_NOTE], rax
    jne     copied_else\@
    lea     rsi, [rax - 8]
    shadow_of rsi, slow_entry\@
    mov     rax, [rsi]
    mov     edx, eax
    and     edx, FRAME_OUT_BITS
    jz      copied_known\@
    cmp     dword ptr [rcx + STUB_INDEX], 0
    js      copied_else\@
    cmp     edx, FRAME_CALLED_OUT
    jne     copied_by_jump\@
    mov     eax, [rax - FRAME_CALLED_OUT + LINKS_NODE]
    shl     rax, 6
    add     rax, [rdi + THREAD_TRACE]
    mov     eax, [rax + NODE_CONTEXT]
    key_of_callee
    hinted_context copied_search\@, [rsp]
    mov     rdx, [rsp]
    cmp     [rax + NODE_SITE], rdx
    jne     copied_site\@
copied_found\@:
    mov     rdx, [rax + NODE_PASSED]        /* its links */
    test    rdx, rdx
    jz      slow_entry\@
    mov     rdi, [rdx + LINKS_ENTERED]
    add     edi, [rax + NODE_CALLS]
    inc     edi
    sub     edi, [rax + NODE_NEXT]
    jns     copied_timed\@
    inc     qword ptr [rdx + LINKS_ENTERED]
    mov     [rsi], rdx
    mov     [rsp - 64], rcx
    restore_flags_and_work_registers
    jmp     [rsp - 64]

copied_by_jump\@:                           /* out of its caller's frame; in a chain, below the first */
    mov     edx, [rax - FRAME_JUMPED_OUT + LINKS_NODE]
    shl     rdx, 6
    add     rdx, [rdi + THREAD_TRACE]
    mov     eax, [rdx + NODE_CONTEXT]
    cmp     qword ptr [rdx + NODE_SITE], 0
    cmovs   eax, [rdx + NODE_PARENT]
    key_of_callee
    hinted_context slow_entry\@, [rsp]
    mov     rdx, [rsp]
    bts     rdx, SITE_TAIL_BIT
    cmp     [rax + NODE_SITE], rdx
    jne     slow_entry\@
    jmp     copied_found\@

copied_timed\@:                             /* it is to be timed: a record, as any other call's */
    cmp     byte ptr [rax + NODE_GAP], 0
    je      slow_entry\@
    test    byte ptr [rdx + LINKS_FLAGS], LINKS_JUMP /* which end its record */
    jne     slow_entry\@
    mov     rdi, THREAD_WORDS
    mov     rdi, THREAD_SEGMENT:[rdi]
    take_record_of_copy slow_entry\@
    jmp     4f

copied_known\@:                             /* by a site that knows it, unless note and word were left by */
    test    rax, rax                        /* calls that are over */
    jz      slow_entry\@
    mov     edx, [rax + LINKS_NODE]
    shl     rdx, 6
    add     rdx, [rdi + THREAD_TRACE]
    mov     rdx, [rdx + NODE_SITE]
    bt      rdx, SITE_SHARED_BIT
    jc      copied_shared\@
    xor     rdx, [rsp]
    shl     rdx, 8                          /* without its flags */
    jnz     slow_entry\@
known\@:                                    /* is it this function's? */
    movsxd  rdx, dword ptr [rcx + 2]
    mov     edx, [rcx + rdx + 6 - FRAME_KEY_SIZE + KEY_KEY]
    cmp     [rax + LINKS_KEY], edx
    jne     slow_entry\@
    mov     [rsp - 64], rcx
    restore_flags_and_work_registers
    jmp     [rsp - 64]

copied_shared\@:                             /* by `call r11`, as copies call what is not theirs? */
    mov     rdx, [rsp]
    cmp     word ptr [rdx - 3], 0xff41
    jne     slow_entry\@
    cmp     byte ptr [rdx - 1], 0xd3
    jne     slow_entry\@
    jmp     known\@

/* A copy that was not called by one: its record, and its context beside its frame. */
copied_record\@:
    mov     rdx, [rax + NODE_PASSED]        /* its links */
    test    rdx, rdx
    jz      slow_entry\@
    mov     esi, [rdx + LINKS_ENTERED]
    add     esi, [rax + NODE_CALLS]
    inc     esi
    sub     esi, [rax + NODE_NEXT]
    js      3f
    test    byte ptr [rdx + LINKS_FLAGS], LINKS_JUMP /* timed, and to end where it jumps */
    jne     slow_entry\@
3:  mov     [rsp - 104], rdx
    mov     rdx, THREAD_WORDS
    mov     rsi, rsp
    shadow_of rsi, slow_entry\@
    mov     rdx, [rsp - 104]
    take_record_of_copy slow_entry\@
    sub     edx, [rax + NODE_NEXT]
    js      untimed\@
    jmp     choose\@

copied_else\@:
    mov     rsi, [rdi + THREAD_TOP]
    jmp     uncopied\@

copied_site\@:
    mov     rdx, [rax + NODE_PARENT]
copied_search\@:
    search_context slow_entry\@
    jmp     copied_found\@

noted\@:                                    /* the context beside the slot of its call */
    cmp     rdx, -1
    je      unnoted\@
    lea     rax, [rdx - 8]
    cmp     rax, rsp
    jb      slow_entry\@
    mov     rdx, THREAD_WORDS
    shadow_of rax, slow_entry\@
    mov     rax, [rax]
    mov     edx, eax
    and     edx, FRAME_OUT_BITS
    cmp     edx, FRAME_CALLED_OUT
    jne     slow_entry\@
    and     rax, -8
    mov     eax, [rax + LINKS_NODE]
    shl     rax, 6
    add     rax, [rdi + THREAD_TRACE]
    mov     eax, [rax + NODE_CONTEXT]
    key_of_callee
    jmp     8b
    .endif

    .if \events
event\@:                                    /* a fresh segment, or a new base */
    mov     [rsp - 64], rsi
    mov     rsi, rdx
    mov     rdx, rax
    call_c  umbra_slow_event_entry
    mov     rsi, [rsp - 64]
    jmp     noted\@
    .endif

    .if \adaptive
leaf_or_timed\@:
    jns     slow_entry\@                    /* each call is to be timed: times.h */
leaf\@:                                     /* no thunk unless it is timed */
    pass_leaf 3f
3:  add     edx, [rax + NODE_CALLS]
    put_off_if_never leaf\@
    mov     rsi, [rdi + THREAD_TOP]
    take_record slow_entry\@, 1
    add     edx, [rax + NODE_PASSED]
    jmp     4f
choose\@:                                   /* timed, for a gap of calls; the next gap */
    add     edx, [rax + NODE_NEXT]
    put_off_if_never untimed\@
4:  choose_gap
    jmp     2b
    .endif

other_site\@:                               /* of the same key */
    mov     rdx, [rax + NODE_PARENT]
search\@:                                   /* no hint: the table knows, and is one from now on */
    search_context slow_entry\@
    jmp     1b

no_call_from_top\@:
    .ifeq \events
    jne     slow_entry\@                    /* its frame is gone; else a tail call */
    .if \adaptive
    cmp     word ptr [rcx], FRAME_BODY_JUMP /* which the copy that jumped may have counted */
    je      jumped\@
unjumped\@:
    same_tick slow_entry\@
    .endif
    tail_call_context slow_entry\@
    mov     [rsp - 64], rcx
    .if \adaptive
    test    dword ptr [rax + NODE_FUNCTION], FUNCTION_TIMED
    jnz     slow_entry\@
    untimed_tail_call slow_entry\@
    .else
    end_of_timed_invocation
    .endif
    replace_invocation
    restore_flags_and_work_registers
    jmp     [rsp - 64]

    .if \adaptive
jumped\@:
    mov     rdx, THREAD_WORDS
    lea     rax, [rsp + 8]
    cmp     THREAD_SEGMENT:[rdx + SLOT_FRAMES + FRAMES_NOTE], rax
    jne     unjumped\@
    mov     rax, rsp
    sub     rax, THREAD_SEGMENT:[rdx + SLOT_FRAMES + FRAMES_LOW]
    cmp     rax, THREAD_SEGMENT:[rdx + SLOT_FRAMES + FRAMES_SIZE]
    jae     slow_entry\@
    add     rax, THREAD_SEGMENT:[rdx + SLOT_FRAMES + FRAMES_SHADOW]
    mov     rax, [rax]
    test    al, FRAME_OUT_BITS
    jz      jumped_known\@
    jmp     unjumped\@
jumped_known\@:
    test    rax, rax
    jnz     known\@
    .endif
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

    .section .rodata
    .balign 8
hash_b:
    .quad   HASH_B
mark_leaving:
    .quad   MARK_LEAVING
mark_count:
    .quad   ~MARK_BITS

    .section .note.GNU-stack, "", @progbits
