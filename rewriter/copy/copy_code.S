/*
 * What stands in copies besides the original's instructions. docs/copies.md says why, and what the
 * agent's routines in hooks/linux/copies.S do, to which all goes that is not as usual.
 *
 * In front of a function's first instruction:
 *
 *      outer       what the stub leads to: as `entry`, but the page may still lead nowhere
 *      key         who the function is
 *      entry       what calls in copies lead to
 *                  the body follows
 *
 * At an entry or an end nothing below the stack pointer is in use, and no flag. What counts is shared
 * by the copies of an image, since processors take a call and its `ret` in their stride, and would
 * not as many copies of it. What is saved counts: a store takes a processor longer than anything
 * else here. So values are loaded twice rather than kept in one more register.
 */
#include "rewriter/copy/copy_code.h"
#include "trace/copy_offsets.h"
#include "trace/image_offsets.h"

#define FRONT_KEY  32 /* offset of the key */
#define FRONT_SIZE 64

    .intel_syntax noprefix
    .section .rodata

/* The instruction just put ends in four bytes to fill in, and `behind` more. */
    .macro hole kind, value=0, behind=0
9:  .pushsection .rodata.holes, "a"
    .short  9b - 0b - 4 - \behind, \kind, \value, \behind
    .popsection
    .endm

    .macro row cfa
9:  .pushsection .rodata.rows, "a"
    .short  9b - 0b, \cfa
    .popsection
    .endm

    .macro begin_code name
    .balign 64
0:
    .pushsection .rodata.holes, "a"
    .balign 2
\name\()_holes:
    .popsection
    .pushsection .rodata.rows, "a"
    .balign 2
\name\()_rows:
    .popsection
\name\()_code:
    .endm

    .macro end_code name, key=0, entry=0
\name\()_end:
    .pushsection .rodata.holes, "a"
\name\()_holes_end:
    .popsection
    .pushsection .rodata.rows, "a"
\name\()_rows_end:
    .popsection
    .pushsection .data.rel.ro, "aw"
    .balign 8
    .globl  \name
    .type   \name, @object
\name:
    .quad   \name\()_code, \name\()_holes, \name\()_rows
    .short  \name\()_end - \name\()_code, (\name\()_holes_end - \name\()_holes) / 8
    .short  (\name\()_rows_end - \name\()_rows) / 4, \key, \entry, 0, 0, 0
    .size   \name, . - \name
    .popsection
    .endm

    .macro load_thread_offset register
    mov     \register, [rip]
    hole    HOLE_WORD, PAGE_THREAD
    .endm

/* esi: the function's number. */
    .macro load_function
    mov     rsi, [rsp]
    mov     esi, [rsi - FRONT_SIZE + FRONT_KEY + COPY_INDEX]
    add     esi, [rip]
    hole    HOLE_IMAGE, IMAGE_FIRST_FUNCTION
    .endm

/* Is it the call that rax is the place of? rcx: S, esi: the function. rsi becomes the caller's slot. */
    .macro known_call otherwise
    cmp     [rdi + rax + THREAD_SITES + SITE_FUNCTION], esi
    jne     \otherwise
    mov     rsi, [rsp + 8]
    cmp     [rdi + rax + THREAD_SITES + SITE_RET], rsi
    jne     \otherwise
    mov     rsi, [rdi + rax + THREAD_SITES + SITE_DISTANCE]
    add     rsi, rcx
    cmp     rsi, [rdi + THREAD_CALLER]      /* its caller's frame as far away, */
    jne     \otherwise
    lea     rcx, [SHADOW_SCALE * rsi]
    add     rcx, [rdi + THREAD_SHADOW]
    mov     rcx, [rcx + SHADOW_NODE]
    mov     ecx, [rcx + NODE_CONTEXT]
    cmp     ecx, [rdi + rax + THREAD_SITES + SITE_CALLER] /* and of the same context? */
    jne     \otherwise
    .endm

/*
 * A function is entered: rsp = S - 8, where the address of its body is. It goes on there, counted if
 * it is a call that is known from before and is not to be timed. Else it goes to on_entry or on_leaf
 * with rsp = S, the key in rax, and registers saved below S.
 */
    .macro shared_entry name, is_leaf
    .balign 64
\name:
    row     16
    mov     [rsp - 8], rax                  /* S - 16 */
    mov     [rsp - 16], rcx
    mov     [rsp - 40], rsi
    mov     [rsp - 48], rdi
    load_thread_offset rdi
    test    rdi, rdi                        /* the page has none, */
    jz      \name\()_miss
    mov     rdi, fs:[rdi]
    test    rdi, rdi                        /* nor has the thread */
    jz      \name\()_miss
    lea     rcx, [rsp + 8]
    cmp     rcx, [rdi + THREAD_COPIES]
    jb      \name\()_miss
    cmp     rcx, [rdi + THREAD_JUMP]        /* a jump that is no call? */
    je      \name\()_miss
    load_function
    imul    eax, [rsp + 8], SITES_MIX       /* was a call of this from there seen, */
    xor     ecx, eax
    imul    eax, esi, SITE_SIZE
    add     eax, ecx
    lea     rcx, [rsp + 8]
    and     eax, SITES_SIZE - SITE_SIZE
    known_call \name\()_other
\name\()_known:
    mov     rax, [rdi + rax + THREAD_SITES + SITE_NODE]
    mov     ecx, [rax + NODE_CALLS]
    .if \is_leaf
    add     ecx, [rax + NODE_PASSED]
    .endif
    inc     ecx
    cmp     ecx, [rax + NODE_NEXT]          /* is this one to be timed? */
    jns     \name\()_miss
    .if \is_leaf
    inc     qword ptr [rax + NODE_PASSED]
    .else
    lea     rcx, [rsp + 8]
    shl     rcx, 2
    add     rcx, [rdi + THREAD_SHADOW]
    mov     [rcx + SHADOW_BELOW], rsi
    mov     rsi, [rax + NODE_CALLS]
    not     rsi
    mov     [rcx + SHADOW_TIME], rsi        /* until it is counted */
    mov     rsi, [rsp + 8]
    mov     [rcx + SHADOW_NODE], rax
    mov     [rcx + SHADOW_RET], rsi
    lea     rsi, [rsp + 8]
    mov     [rdi + THREAD_CALLER], rsi
    inc     qword ptr [rax + NODE_CALLS]
    mov     rsi, [rip]
    hole    HOLE_WORD, PAGE_TICK
    mov     [rcx + SHADOW_TIME], rsi
    .endif
    mov     rdi, [rsp - 48]
    mov     rsi, [rsp - 40]
    mov     rcx, [rsp - 16]
    mov     rax, [rsp - 8]
    ret

\name\()_other:
    xor     eax, SITE_SIZE                  /* what was there before that */
    lea     rcx, [rsp + 8]
    load_function
    known_call \name\()_miss
    jmp     \name\()_known

\name\()_miss:
    mov     [rsp - 32], rdx
    mov     rax, [rsp]
    sub     rax, FRONT_SIZE - FRONT_KEY
    add     rsp, 8
    row     8
    jmp     [rip]
    .if \is_leaf
    hole    HOLE_WORD, PAGE_ON_LEAF
    .else
    hole    HOLE_WORD, PAGE_ON_ENTRY
    .endif
    .endm

    begin_code copy_shared
    shared_entry shared_entry, 0
    shared_entry shared_leaf, 1

/* A function returns, rsp = S: its frame, if it is the innermost one and was counted, is counted as
   returned. */
    .balign 64
shared_exit:
    mov     [rsp - 24], rcx
    mov     [rsp - 40], rdx
    mov     [rsp - 48], rsi
    load_thread_offset rcx
    mov     rcx, fs:[rcx]
    test    rcx, rcx
    jz      1f
    cmp     [rcx + THREAD_CALLER], rsp
    jne     2f
    mov     rdx, rsp
    shl     rdx, 2
    add     rdx, [rcx + THREAD_SHADOW]
    mov     rsi, [rip]
    hole    HOLE_WORD, PAGE_TICK
    cmp     [rdx + SHADOW_TIME], rsi        /* timed; or a tick went by: it may have taken long */
    jne     2f
    mov     rcx, [rdx + SHADOW_NODE]
    mov     rsi, [rcx + NODE_EXITS]
    not     rsi
    mov     [rdx + SHADOW_RET], rsi         /* until it is counted */
    neg     rsi
    mov     [rcx + NODE_EXITS], rsi
    mov     rdx, [rdx + SHADOW_BELOW]
    load_thread_offset rcx
    mov     rcx, fs:[rcx]
    mov     [rcx + THREAD_CALLER], rdx
1:  mov     rsi, [rsp - 48]
    mov     rdx, [rsp - 40]
    mov     rcx, [rsp - 24]
    ret
2:  mov     rsi, [rsp - 48]
    mov     rdx, [rsp - 40]
    mov     rcx, [rsp - 24]
    jmp     [rip]
    hole    HOLE_WORD, PAGE_ON_EXIT
    end_code copy_shared

    .macro front name, shared
    begin_code \name
    cmp     qword ptr [rip], 0              /* is anything recorded? */
    hole    HOLE_WORD, PAGE_HOOK, 1
    je      3f
    cmp     qword ptr [rip], 0              /* does the page lead anywhere yet? */
    hole    HOLE_WORD, PAGE_ON_ENTRY, 1
    jne     2f
    mov     [rsp - 24], rcx
    .byte   0xe9
    .long   0
    hole    HOLE_STUB
    .org    \name\()_code + FRONT_KEY, 0xcc
    .long   0
    hole    HOLE_HEADER
    .long   0
    hole    HOLE_INDEX
    .long   0
    hole    HOLE_BODY
    .long   FRONT_SIZE - FRONT_KEY
    nop
1:  cmp     qword ptr [rip], 0              /* is anything recorded? */
    hole    HOLE_WORD, PAGE_HOOK, 1
    je      3f
2:  .byte   0xe8
    .long   0
    hole    HOLE_SHARED, "(\shared - copy_shared_code)"
    .org    \name\()_code + FRONT_SIZE, 0x90
3:  end_code \name, FRONT_KEY, "(1b - \name\()_code)"
    .endm

    front copy_front, shared_entry
    front copy_front_of_leaf, shared_leaf

    begin_code copy_exit
    cmp     qword ptr [rip], 0              /* may there be frames? */
    hole    HOLE_WORD, PAGE_THREAD, 1
    .byte   0x0f, 0x85                      /* jne */
    .long   0
    hole    HOLE_SHARED, "(shared_exit - copy_shared_code)"
    ret
    end_code copy_exit

    .section .note.GNU-stack, "", @progbits
