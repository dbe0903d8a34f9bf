/*
 * Windows: files are mapped at multiples of 64 KiB, so a block's code takes just that. The range
 * is reserved at the agent's start, each block for itself: a reservation can only be given up
 * whole, and nothing can be mapped over one (windows/x86_64/range.c).
 *
 * A thunk stands 2 bytes off the start of its 64, so that T is at a multiple of 8: the unwinder's
 * codes count in units of 8.
 */
#ifndef UMBRA_THUNKSTASH_BLOCK_LAYOUT_H
#define UMBRA_THUNKSTASH_BLOCK_LAYOUT_H

#define BLOCK_THUNKS 1024
#define STASH_BLOCKS 1024 /* 128 MiB, a million frames */
#define THUNK_OFFSET 2    /* of a thunk in its 64 bytes */
#define SLOT_BIAS    8

#endif
