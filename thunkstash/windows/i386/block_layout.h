/*
 * Windows, i386: the range is reserved at the agent's start. Programs have 2, 3 or 4 GB of address space. A block
 * has thunks of its own, and is committed as it is needed first (windows/i386/range.c).
 */
#ifndef UMBRA_THUNKSTASH_BLOCK_LAYOUT_H
#define UMBRA_THUNKSTASH_BLOCK_LAYOUT_H

#define BLOCK_THUNKS 512
#define STASH_BLOCKS 256 /* 16 MiB, 131,000 frames */
#define THUNK_OFFSET 0   /* of a thunk in its 64 bytes */
#define SLOT_BIAS    0

#endif
