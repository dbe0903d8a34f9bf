/* Exit of every recorded call: entry.S tells the way of a call, and what it costs. */
#include "hooks/linux/x86_64/hooks.inc"

#define SLOT rsp
#include "hooks/x86_64/entry.inc"

/* The note is again what it was when the record rcx began. Clobbers rax, rsi. */
    .macro restore_note
    mov     rax, THREAD_WORDS
    mov     rsi, [rcx + RECORD_BELOW]
    mov     THREAD_SEGMENT:[rax + SLOT_FRAMES + FRAMES_NOTE], rsi
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
    cmp     rax, [rsi + TRACE_TICK]
    jne     noticed\@
    mov     rsi, [rcx + RECORD_NODE]
    count_exit
    restore_note
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
    .if \events
    jae     2f                              /* a handler's slow path came after the clock was read */
    xor     edx, edx
2:
    .else
    jb      slow_exit\@                     /* a handler came behind the clock: it is read again */
    .endif
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
    mov     rdi, THREAD_WORDS
    mov     rdi, THREAD_SEGMENT:[rdi]
    jmp     noted\@
    .endif

    .if \adaptive
noticed\@:                                  /* timed; else a tick went by: it may have taken long */
    test    rax, rax
    js      slow_exit\@
    mov     [rsp - 40], rdx
    add_timed_call
    count_exit
    restore_note
    mov     rdx, [rsp - 40]
    jmp     1b
    add_long_timed_call
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

/* Threads that exit() has cut off return here. */
    hidden_function umbra_exit_uncounted
    .cfi_startproc
    mov     rax, [rsp - 16]
    ret
    .cfi_endproc
    .size   umbra_exit_uncounted, . - umbra_exit_uncounted

    .section .note.GNU-stack, "", @progbits
