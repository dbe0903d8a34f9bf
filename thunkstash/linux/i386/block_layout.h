/*
 * Linux, i386: the range umbra_stash is part of the agent's image, as on x86-64. Programs have 3 or 4 GB of
 * address space, and thunks of their own in each block.
 */
#ifndef UMBRA_THUNKSTASH_BLOCK_LAYOUT_H
#define UMBRA_THUNKSTASH_BLOCK_LAYOUT_H

#define BLOCK_THUNKS 512
#define STASH_BLOCKS 256 /* 16 MiB, 131,000 frames */
#define THUNK_OFFSET 0   /* of a thunk in its 64 bytes */
#define SLOT_BIAS    0

#endif
