/*
 * Entry and exit of every recorded call on i386.
 *
 *      caller:    call function                 esp = S, [S] = return address R
 *      function:  jmp  stub
 *      stub:      push ecx
 *                 push eax
 *                 ecx = hook word, eax = body   0: on to the body
 *                 jmp  ecx              ->  umbra_record_…: note the call; eax = the thunk, or `off`
 *      thunk:     pop  eax
 *                 pop  ecx
 *                 call [record.body]            [S] = T, esp = S
 *      body:      … ret                         esp = S + 4
 *      T:         push [record.ret]             [S] = R, esp = S
 *                 push eax
 *                 …                     ->  umbra_exit_…: note the end; ret
 *
 * `off`, 5 bytes before the body, is where a stub goes on of which nothing is recorded. There is no red
 * zone, so all that is kept is pushed:
 *
 *      S + 0   R or T        S - 12  flags, as lahf and seto have them, or eflags
 *      S - 4   ecx           S - 16  edx
 *      S - 8   eax           S - 20  ebx, S - 24  esi, S - 28  edi
 *
 * What is usual is done here, as x86_64/entry.inc tells; what is less so, in C, by fast_paths.h and slow_paths.c. C
 * keeps ebx, esi, edi and ebp; it is compiled without the x87 and vector registers, in which results may be. Of
 * fields of 8 bytes that are addresses, or numbers of calls to be compared, the lower halves are enough.
 */
#include "hooks/layout.h"
#include "hooks/offsets_i386.h"
#include "thunkstash/layout.h"
#include "thunkstash/offsets.h"

    .intel_syntax noprefix
    .text

    .macro hidden_function name
    .balign 16
    .globl  \name
    .hidden \name
    .type   \name, @function
\name:
    .endm

    .macro push_register register
    push    \register
    .cfi_adjust_cfa_offset 4
    .endm

    .macro pop_register register
    pop     \register
    .cfi_adjust_cfa_offset -4
    .endm

    .macro push_flags
    pushfd
    .cfi_adjust_cfa_offset 4
    cld
    .endm

    .macro pop_flags
    popfd
    .cfi_adjust_cfa_offset -4
    .endm

/* Not recording yet: on to the body. */
    hidden_function umbra_pass
    .cfi_startproc
    .cfi_adjust_cfa_offset 8
    lea     eax, [eax - 5]
    jmp     eax
    .cfi_endproc
    .size   umbra_pass, . - umbra_pass

/* First call into an image since it was loaded: the entry hook as the dynamic linker binds it. */
    .balign 16
    .globl  umbra_enter_13
    .type   umbra_enter_13, @function
umbra_enter_13:
    .globl  umbra_enter
    .hidden umbra_enter
umbra_enter:                                /* the same, for the agent itself */
    .cfi_startproc
    .cfi_adjust_cfa_offset 8
    push_flags
    push_register edx
    push_register eax
    mov     ecx, eax
    call    umbra_hook_of_call
    mov     ecx, eax
    pop_register eax
    pop_register edx
    pop_flags
    jmp     ecx
    .cfi_endproc
    .size   umbra_enter_13, . - umbra_enter_13

    .macro save_flags_and_work_registers
    lahf
    seto    al
    push_register eax
    push_register edx
    push_register ebx
    push_register esi
    push_register edi
    .endm

    .macro restore_flags_and_work_registers
    pop_register edi
    pop_register esi
    pop_register ebx
    pop_register edx
    pop_register eax
    add     al, 0x7f                        /* overflow if it was set */
    sahf
    .endm

    /* On to ecx, as the stub has left all else. */
    .macro go_on
    .cfi_remember_state
    restore_flags_and_work_registers
    jmp     ecx
    .cfi_restore_state
    .endm

    /* edi: the calling thread's state, or to \none. */
    .macro current_thread none
    call    9f
9:  pop     edi
    .att_syntax prefix                      /* the one that all assemblers read this in */
8:  add     $_GLOBAL_OFFSET_TABLE_+(8b-9b), %edi
    .intel_syntax noprefix
    mov     edi, [edi + umbra_thread@gotntpoff]
    mov     edi, gs:[edi]
    test    edi, edi
    jz      \none
    .endm

    /* Adds 1 to the 8 bytes at \place: eax and edx, the lower half and the upper one. */
    .macro count_up place:vararg
    mov     eax, [\place]
    mov     edx, [\place + 4]
    add     eax, 1
    adc     edx, 0
    .endm

    /* eax and edx: the thread's time. */
    .macro read_time
    rdtsc
    sub     eax, [edi + THREAD_STOPPED]
    sbb     edx, [edi + THREAD_STOPPED + 4]
    .endm

/* A call while recording. Registers: ecx the body, edi the thread, esi a record, ebx a context, edx the slot. */
    .macro entry_hook name, entry, adaptive
    hidden_function \name
    .cfi_startproc
    .cfi_adjust_cfa_offset 8
    mov     ecx, eax
    save_flags_and_work_registers
    current_thread in_c\@
    mov     esi, [edi + THREAD_TOP]
    lea     edx, [esp + 28]
    mov     eax, edx
    sub     eax, [edi + THREAD_STACK_LOW]
    cmp     eax, [edi + THREAD_STACK_SIZE]
    jae     in_c\@
    cmp     [esi + RECORD_SLOT], edx        /* live, and this is no tail call? */
    jbe     in_c\@
    mov     ebx, edx                        /* the context: by the hint */
    xor     ebx, [edx]
    xor     ebx, ecx
    and     ebx, HINTS_SIZE - 4
    mov     ebx, [edi + ebx + THREAD_HINTS]
    shl     ebx, 6
    add     ebx, [edi + THREAD_TRACE]
    mov     eax, [ecx + STUB_HEADER_DISTANCE]
    mov     eax, [ecx + eax + IMAGE_FIRST_FUNCTION]
    add     eax, [ecx + STUB_INDEX]
    cmp     [ebx + NODE_FUNCTION], eax
    jne     in_c\@
    mov     eax, [esi + RECORD_NODE]
    mov     eax, [eax + NODE_CONTEXT]
    cmp     [ebx + NODE_PARENT], eax
    jne     in_c\@
    mov     eax, [edx]
    cmp     [ebx + NODE_SITE], eax
    jne     in_c\@
    cmp     dword ptr [ebx + NODE_SITE + 4], 0
    jne     in_c\@
    .if \adaptive
    test    dword ptr [ebx + NODE_FUNCTION], FUNCTION_LEAF_OR_TIMED
    jnz     leaf_or_timed\@
    .endif

    add     esi, THUNK_SIZE                 /* the record above the top */
    cmp     dword ptr [esi + RECORD_SLOT], 0
    je      in_c\@
7:  mov     eax, [edx]
    mov     [esi + RECORD_SLOT], edx
    mov     dword ptr [esi + RECORD_SLOT + 4], 0
    mov     [esi + RECORD_NODE], ebx
    mov     [esi + RECORD_RET], eax
    mov     [esi + RECORD_BODY], ecx
    count_up ebx + NODE_CALLS
    mov     [esi + RECORD_MARK], eax
    mov     [esi + RECORD_MARK + 4], edx
    mov     [edi + THREAD_TOP], esi
    lea     edx, [esp + 28]
    cmp     [esi + RECORD_SLOT], edx        /* used by a handler before it became the top? */
    jne     7b
    mov     edx, [esi + RECORD_MARK + 4]
    mov     [ebx + NODE_CALLS], eax
    mov     [ebx + NODE_CALLS + 4], edx
    .if \adaptive
    mov     edx, eax
    sub     edx, [ebx + NODE_NEXT]
    jns     choose\@
untimed\@:
    mov     edx, [edi + THREAD_TRACE]
    mov     eax, [edx + TRACE_TICK]
    mov     edx, [edx + TRACE_TICK + 4]
    .else
    read_time
    .endif
timed\@:
    mov     [esi + RECORD_T0], eax
    mov     [esi + RECORD_T0 + 4], edx
    lea     ecx, [esi - RECORD_DISTANCE]
    go_on

    .if \adaptive
choose\@:                                   /* number eax is timed, for a gap of calls; the next gap */
    movzx   ecx, byte ptr [ebx + NODE_GAP]
    test    ecx, ecx
    jz      never\@
    mov     [esi + RECORD_WEIGHT], ecx
    mov     dword ptr [esi + RECORD_WEIGHT + 4], 0
    movzx   ecx, byte ptr [ebx + NODE_MASK]
    movzx   edx, byte ptr [ebx + NODE_RANDOM]
    and     edx, ecx
    shr     ecx, 1
    lea     ecx, [edx + ecx + 1]
    add     eax, ecx
    mov     [ebx + NODE_NEXT], eax
    mov     [ebx + NODE_GAP], cl
    read_time
    jmp     timed\@
never\@:
    add     eax, TIMING_NEVER
    mov     [ebx + NODE_NEXT], eax
    jmp     untimed\@

leaf_or_timed\@:
    jns     in_c\@
    mov     eax, [ebx + NODE_CALLS]         /* a leaf has no thunk unless it is timed */
    add     eax, [ebx + NODE_PASSED]
    inc     eax
    sub     eax, [ebx + NODE_NEXT]
    jns     in_c\@
    add     dword ptr [ebx + NODE_PASSED], 1
    adc     dword ptr [ebx + NODE_PASSED + 4], 0
    sub     ecx, 5                          /* `off` */
    go_on
    .endif

in_c\@:
    mov     edx, ecx
    lea     ecx, [esp + 28]
    push_flags
    call    \entry
    pop_flags
    mov     ecx, eax
    go_on
    .cfi_endproc
    .size   \name, . - \name
    .endm

    entry_hook umbra_record_exact, umbra_entry_exact, 0
    entry_hook umbra_record_adaptive, umbra_entry_adaptive, 1

/* All of whose calls C records. */
    .macro entry_hook_in_c name
    hidden_function \name
    .cfi_startproc
    .cfi_adjust_cfa_offset 8
    push_flags
    push_register edx
    lea     ecx, [esp + 16]
    mov     edx, eax
    call    umbra_entry_slow
    pop_register edx
    pop_flags
    jmp     eax
    .cfi_endproc
    .size   \name, . - \name
    .endm

    entry_hook_in_c umbra_record_events
    /* Of images over whose hook word the trace could not be mapped (hook_word.h): slow paths look at `paused`. */
    entry_hook_in_c umbra_record_unless_paused

/* A recorded call has returned: eax = its record, the program's eax on the stack. */
    .macro exit_hook name, end, adaptive
    hidden_function \name
    .cfi_startproc
    .cfi_adjust_cfa_offset 4
    push_register ecx
    mov     ecx, eax
    save_flags_and_work_registers
    current_thread in_c\@
    cmp     [edi + THREAD_TOP], ecx
    jne     in_c\@
    mov     ebx, [ecx + RECORD_NODE]
    .if \adaptive
    mov     edx, [edi + THREAD_TRACE]
    mov     eax, [edx + TRACE_TICK]
    cmp     [ecx + RECORD_T0], eax
    jne     in_c\@
    mov     eax, [edx + TRACE_TICK + 4]
    cmp     [ecx + RECORD_T0 + 4], eax
    jne     in_c\@
    .else
    read_time
    sub     eax, [ecx + RECORD_T0]
    sbb     edx, [ecx + RECORD_T0 + 4]
    js      in_c\@                          /* a handler came behind the clock: it is read again */
    add     [ebx + NODE_TICKS], eax
    adc     [ebx + NODE_TICKS + 4], edx
    .endif
    count_up ebx + NODE_EXITS
    not     eax
    not     edx
    mov     [ecx + RECORD_SLOT + 4], edx    /* from here on it is not live */
    mov     [ecx + RECORD_SLOT], eax
    not     eax
    not     edx
    mov     [ebx + NODE_EXITS], eax
    mov     [ebx + NODE_EXITS + 4], edx
    lea     eax, [ecx - THUNK_SIZE]
    mov     [edi + THREAD_TOP], eax
1:  .cfi_remember_state
    restore_flags_and_work_registers
    pop_register ecx
    pop_register eax
    ret
    .cfi_restore_state

in_c\@:
    lea     edx, [esp + 28]
    push_flags
    call    \end
    pop_flags
    jmp     1b
    .cfi_endproc
    .size   \name, . - \name
    .endm

    exit_hook umbra_exit_exact, umbra_end_exact, 0
    exit_hook umbra_exit_adaptive, umbra_end_adaptive, 1

    hidden_function umbra_exit_events
    .cfi_startproc
    .cfi_adjust_cfa_offset 4
    push_register ecx
    push_flags
    push_register edx
    mov     ecx, eax
    lea     edx, [esp + 16]
    call    umbra_end_slow
    pop_register edx
    pop_flags
    pop_register ecx
    pop_register eax
    ret
    .cfi_endproc
    .size   umbra_exit_events, . - umbra_exit_events

/* Threads that exit() has cut off return here. */
    hidden_function umbra_exit_uncounted
    .cfi_startproc
    .cfi_adjust_cfa_offset 4
    pop_register eax
    ret
    .cfi_endproc
    .size   umbra_exit_uncounted, . - umbra_exit_uncounted

    .section .note.GNU-stack, "", @progbits
