/* The constant block of thunks, and the range they are mapped into. See layout.h. */
#include "thunkstash/layout.h"
#include "thunkstash/offsets.h"

    .section .text.thunks, "ax", @progbits
    .balign 4096
    .globl  umbra_thunk_code
    .hidden umbra_thunk_code
    .type   umbra_thunk_code, @object
    .size   umbra_thunk_code, BLOCK_CODE_SIZE
umbra_thunk_code:
    .set    index, 0
    .rept   BLOCK_THUNKS
    .byte   0xff, 0x15                          /* call [rip + …] */
    .long   RECORD_DISTANCE + RECORD_BODY - 6
    .byte   0xff, 0x35                          /* push [rip + …] */
    .long   RECORD_DISTANCE + RECORD_RET - 12
    .byte   0x48, 0x89, 0x44, 0x24, 0xf0        /* mov [rsp - 16], rax */
    .byte   0x48, 0x8d, 0x05                    /* lea rax, [rip + …] */
    .long   RECORD_DISTANCE - 24
    .byte   0xff, 0x25                          /* jmp [rip + …] */
    .long   RECORD_DISTANCE + RECORD_BODY - 30 - index * THUNK_SIZE
    .skip   THUNK_SIZE - 30, 0xcc
    .set    index, index + 1
    .endr

/*
 * What unwinders are told of every thunk. Seen from the callee, the frame above is at T = thunk + 6
 * and is empty: its CFA is the callee's. The return address is in the record, at T + K - 6; minus 1,
 * since a signal frame's address is looked up as it is, and the call's last byte is the right
 * place. Why a signal frame: docs/agent.md.
 */
    .section .stash, "a", @nobits
    .balign 4096
    .globl  umbra_stash
    .hidden umbra_stash
    .type   umbra_stash, @object
    .size   umbra_stash, STASH_RANGE_SIZE
umbra_stash:
    .cfi_startproc simple
    .cfi_signal_frame
    .cfi_def_cfa rsp, 0
    /* DW_CFA_val_expression r16, { breg16 K - 6; deref; lit1; minus } */
    .cfi_escape 0x16, 16, 7, 0x80, 0xfa, 0xff, 0x01, 0x06, 0x31, 0x1c
    .skip   STASH_RANGE_SIZE
    .cfi_endproc

    .section .note.GNU-stack, "", @progbits
