/* The constant code of a block's thunks, for assembly. See layout.h. */
#ifndef UMBRA_THUNKSTASH_THUNK_CODE_H
#define UMBRA_THUNKSTASH_THUNK_CODE_H

#include "thunkstash/layout.h"

    .macro thunk_code
    .set    index, 0
    .rept   BLOCK_THUNKS
    .skip   THUNK_OFFSET, 0xcc
    .byte   0xff, 0x15                          /* call [rip + …] */
    .long   RECORD_DISTANCE + RECORD_BODY - 6
    .byte   0xff, 0x35                          /* push [rip + …] */
    .long   RECORD_DISTANCE + RECORD_RET - 12
    .byte   0x48, 0x89, 0x44, 0x24, 0xf0        /* mov [rsp - 16], rax */
    .byte   0x48, 0x8d, 0x05                    /* lea rax, [rip + …] */
    .long   RECORD_DISTANCE - 24
    .byte   0xff, 0x25                          /* jmp [rip + …] */
    .long   RECORD_DISTANCE + RECORD_BODY - 30 - index * THUNK_SIZE
    .skip   THUNK_SIZE - THUNK_OFFSET - 30, 0xcc
    .set    index, index + 1
    .endr
    .endm

#endif
