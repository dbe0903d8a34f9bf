/*
 * Linux: the range umbra_stash is part of the agent's image: a segment without bytes in the file
 * and not accessible, so that it costs address space only, even where all memory is locked.
 */
#ifndef UMBRA_THUNKSTASH_BLOCK_LAYOUT_H
#define UMBRA_THUNKSTASH_BLOCK_LAYOUT_H

#define BLOCK_THUNKS 512
#define STASH_BLOCKS 4096 /* 256 MiB */
#define THUNK_OFFSET 0    /* of a thunk in its 64 bytes */
#define SLOT_BIAS    0

#endif
