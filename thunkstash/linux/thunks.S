/* The constant block of thunks, and the range they are mapped into. See layout.h. */
#include "thunkstash/thunk_code.h"

    .section .text.thunks, "ax", @progbits
    .balign 4096
    .globl  umbra_thunk_code
    .hidden umbra_thunk_code
    .type   umbra_thunk_code, @object
    .size   umbra_thunk_code, BLOCK_CODE_SIZE
umbra_thunk_code:
    thunk_code

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
