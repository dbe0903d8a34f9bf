/* Unwind information of the stubs, of copies and of an embedded agent. */
#ifndef UMBRA_REWRITER_ELF_UNWIND_H
#define UMBRA_REWRITER_ELF_UNWIND_H

#include "rewriter/elf/code/elf_code.h"
#include "rewriter/elf/write/elf_new_segments.h"

/* Where it is. */
struct elf_unwind {
    struct elf_span frames;      /* section .umbra.frames: LSDAs of copies, frame descriptions */
    struct elf_span index;       /* .eh_frame_hdr; none if the image had none */
    struct elf_span agent_index; /* within that: the embedded agent's entries */
    struct buffer debug_frames;  /* elf_copy_debug.h; owned */
};

/* What it is made of. */
struct elf_unwind_source {
    const struct elf_image *image;
    const struct elf_code *elf;
    const struct elf_stubs *stubs;
    const struct stub_moves *moves; /* where each function's instructions went */
    const struct eh_frame *agent;   /* of the one that will be embedded; else null */
};

/*
 * Adds unwind information for the stubs and the copies, and an index of it and the original's, to
 * `segment`. Does nothing to an image that has no index and into which no agent is embedded. False
 * if a copy's cannot be made: elf_copy_frames_can.h. In any case debug_frames is to be freed.
 */
bool elf_unwind_build(struct elf_unwind *unwind, struct elf_new_segment *segment,
                      const struct elf_unwind_source *source, struct failure *failure);
/* Fills in the index entries of the embedded agent's frames, once its address 0 has become
   `address`. */
void elf_unwind_bind(const struct elf_unwind *unwind, struct elf_new_segment *segment,
                     const struct eh_frame *agent, uint64_t address);

#endif
