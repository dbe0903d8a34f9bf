/* The new segments of an instrumented image while they are put together; see elf_writer.h. */
#ifndef UMBRA_REWRITER_ELF_NEW_SEGMENTS_H
#define UMBRA_REWRITER_ELF_NEW_SEGMENTS_H

#include "rewriter/base/buffer.h"
#include "rewriter/copy/copy_set.h"
#include "rewriter/elf/image/elf_image.h"
#include "rewriter/patch/stub.h"

#define ELF_NEW_SEGMENTS   3 /* and those of an embedded agent */
#define ELF_NEW_SECTIONS   5
#define ELF_STUBS_SECTION  2 /* place of .umbra.stubs among these */
#define ELF_COPY_SECTIONS  1 /* more, if bodies are copied */
#define ELF_AGENT_SECTIONS 4 /* more, of an embedded agent */
#define ELF_PAGE           4096u

struct elf_new_segment {
    uint64_t address;
    struct buffer bytes;
};

/* Address of the next byte. */
static inline uint64_t elf_new_segment_end(const struct elf_new_segment *segment)
{
    return segment->address + segment->bytes.size;
}

/* RX: stubs, what stands in for system calls, copies. */
struct elf_stubs {
    struct stub_segment segment;
    size_t locks;     /* offset of what stands in for system calls: elf_memory_lock_stubs.h */
    size_t copies_at; /* offset of what is behind it */
    bool has_copies;  /* or may have had: has sections for them */
    bool counts_no_calls, counts_instructions, counts_blocks;
    struct copy_set copies;
};

/* RW: .dynamic, or what an embedded agent needs; the image_header, with which the bytes end; the
   page of the hook word; those of the cover. */
struct elf_data {
    struct elf_new_segment segment;
    struct elf_span dynamic;          /* .dynamic; none if an agent is embedded */
    uint64_t header, hook_page, hook; /* addresses; hook: of the word in that page */
    uint64_t end;                     /* behind the pages of the image's cover */
};

#endif
