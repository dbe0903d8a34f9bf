/* The parts of an instrumented image while it is put together; see elf_writer.h. */
#ifndef UMBRA_REWRITER_ELF_LAYOUT_H
#define UMBRA_REWRITER_ELF_LAYOUT_H

#include "rewriter/elf/elf_code.h"
#include "rewriter/elf/elf_embedding.h"
#include "rewriter/elf/elf_image.h"
#include "rewriter/memory.h"
#include "rewriter/stub.h"

#define ELF_NEW_SEGMENTS   3 /* and those of an embedded agent */
#define ELF_NEW_SECTIONS   4
#define ELF_AGENT_SECTIONS 4 /* more, of an embedded agent */
#define ELF_PAGE           4096u

/* A table in the R segment; size 0 if the image has none. */
struct elf_part {
    size_t offset, size; /* within the segment */
};

struct elf_layout {
    const struct elf_image *image;
    uint64_t delta; /* of each new segment: address - offset in the file */
    uint64_t tables_address, data_address;
    struct buffer tables, data; /* R, RW */
    struct stub_segment stubs;  /* RX */
    struct elf_part headers, symbols, versions, strings, hash, relocations, manifest;
    struct elf_part frames, frame_index; /* unwind information of the stubs; .eh_frame_hdr */
    struct elf_part dynamic;             /* within data */
    size_t image_header;                 /* offset within data */
    size_t relocation_slot;              /* offset within tables of the entry for entry_hook */
    uint64_t agent_name, hook_name;      /* offsets in the strings */
    struct elf_embedding *embedding;     /* null: the dynamic linker loads the agent */
    struct elf_span generated;           /* elf_generated.h */
    struct elf_part agent_index;         /* within the tables: index entries of its frames */
};

size_t elf_layout_new_segments(const struct elf_layout *layout);

/* Address of the image_header. */
uint64_t elf_layout_header(const struct elf_layout *layout);

/* Leaves room for the program headers at the start of `tables`. */
void elf_headers_build(struct elf_layout *layout);
/* Fills `tables` with copies of the dynamic tables, each with its new entry. */
void elf_tables_build(struct elf_layout *layout, const char *agent);
/* Sets the relocation of entry_hook, once the header has its address. */
void elf_tables_bind(struct elf_layout *layout);
/*
 * Adds unwind information for the stubs, and an index of it and the original's, to `tables`;
 * moves: where each function's instructions went. Does nothing to an image that has no index and
 * into which no agent is embedded.
 */
void elf_unwind_build(struct elf_layout *layout, const struct elf_code *elf,
                      const struct stub_moves *moves);
/* Fills in the index entries of the embedded agent's frames, once it has its address. */
void elf_unwind_bind(struct elf_layout *layout);
/* Fills `data` with the dynamic section. */
void elf_dynamic_build(struct elf_layout *layout);
/* Fills in the program headers. */
void elf_segments_build(struct elf_layout *layout);
/* Appends section headers and their names to `tail`, which will lie at tail_offset. */
void elf_sections_build(const struct elf_layout *layout, struct buffer *tail, uint64_t tail_offset,
                        Elf64_Ehdr *header);

#endif
