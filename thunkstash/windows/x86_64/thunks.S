/*
 * The constant block of thunks. It is mapped from the agent's file, where the linker script has put
 * it at a multiple of 64 KiB; the copy that is loaded with the image is never run.
 */
#include "thunkstash/layout.h"
#include "thunkstash/offsets.h"

    .section .text.thunks, "x"
    .globl  umbra_thunk_code
umbra_thunk_code:
    .set    index, 0
    .rept   BLOCK_THUNKS
    .skip   THUNK_OFFSET, 0xcc
    .byte   0xff, 0x15                          /* call [rip + …] */
    .long   RECORD_DISTANCE + RECORD_BODY - 6
    .byte   0x48, 0x89, 0x44, 0x24, 0xe8        /* mov [rsp - 24], rax */
    .byte   0x48, 0x8d, 0x05                    /* lea rax, [rip + …] */
    .long   RECORD_DISTANCE - 18
    .byte   0xff, 0x25                          /* jmp [rip + …] */
    .long   RECORD_DISTANCE + RECORD_BODY - 24 - index * THUNK_SIZE
    .skip   THUNK_SIZE - THUNK_OFFSET - 24, 0xcc
    .set    index, index + 1
    .endr
