/*
 * The agent's unwind information, for unwinders that no dynamic linker has told of it: their _Unwind_Find_FDE has a
 * hook that leads here (own_frames.S).
 */
#ifndef UMBRA_HOOKS_OWN_FRAMES_H
#define UMBRA_HOOKS_OWN_FRAMES_H

#include <stdint.h>

/* What _Unwind_Find_FDE says of the function that it was asked for: gcc's struct dwarf_eh_bases. */
struct frame_bases {
    uint64_t text, data; /* which the agent's frames do not count from: 0 */
    uint64_t function;
};

/* .eh_frame_hdr, as the linker makes it. Distances are from its first byte. */
struct frame_index {
    uint8_t version;
    uint8_t frames_as, count_as, entries_as; /* 0x1b, 0x03, 0x3b: of four bytes each */
    int32_t frames;
    uint32_t count;
    struct {
        int32_t code;  /* where a function begins: ascending */
        int32_t frame; /* its FDE */
    } entries[];
};

/* The FDE of the function that an address is in, and the function; null: there is none. */
const void *own_frame(const struct frame_index *index, uint64_t where, struct frame_bases *bases);

#endif
