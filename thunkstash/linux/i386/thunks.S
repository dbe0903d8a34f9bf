/* The range that thunks are mapped into. See thunk_layout.h. */
#include "thunkstash/layout.h"

/*
 * What unwinders are told of every thunk. Seen from the callee, the frame above is at T = thunk + 12
 * and is empty: its CFA is the callee's. The return address is in the record, at T + K - 12; minus 1,
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
    .cfi_def_cfa esp, 0
    /* DW_CFA_val_expression eip, { breg8 K - 12; deref; lit1; minus } */
    .cfi_escape 0x16, 8, 7, 0x78, 0xf4, 0xff, 0x01, 0x06, 0x31, 0x1c
    .skip   STASH_RANGE_SIZE
    .cfi_endproc

    .section .note.GNU-stack, "", @progbits
