/* The parts of an instrumented image while it is put together; see elf_writer.h. */
#ifndef UMBRA_REWRITER_ELF_LAYOUT_H
#define UMBRA_REWRITER_ELF_LAYOUT_H

#include "rewriter/change_list.h"
#include "rewriter/elf/elf_code.h"
#include "rewriter/elf/elf_embedding.h"
#include "rewriter/elf/elf_image.h"
#include "rewriter/elf/elf_room.h"
#include "rewriter/memory.h"
#include "rewriter/stub.h"

#define ELF_NEW_SEGMENTS   3 /* and those of an embedded agent */
#define ELF_NEW_SECTIONS   5
#define ELF_AGENT_SECTIONS 4 /* more, of an embedded agent */
#define ELF_PAGE           4096u

/* A table in the R segment; size 0 if the image has none. */
struct elf_part {
    size_t offset, size; /* within the segment */
};

/* A table that is new, or has grown, wherever it is; size 0 if it is as it was. */
struct elf_place {
    uint64_t address, size;
};

/* Bytes of the original that a grown table takes. */
struct elf_overwrite {
    uint64_t address;
    size_t offset, size; /* of what is to be there, within `overwriting` */
};

#define ELF_OVERWRITES 8

struct elf_layout {
    const struct elf_image *image;
    uint64_t delta; /* of each new segment: address - offset in the file */
    uint64_t tables_address, data_address;
    struct buffer tables, data; /* R, RW */
    struct stub_segment stubs;  /* RX */
    struct elf_room room;
    struct elf_overwrite overwrites[ELF_OVERWRITES];
    size_t overwrite_count;
    struct buffer overwriting;
    struct elf_place headers, symbols, versions, strings, hash, relocations;
    struct elf_part manifest;
    struct elf_part frames, frame_index; /* unwind information of the stubs; .eh_frame_hdr */
    struct elf_part dynamic;             /* within data */
    size_t image_header;                 /* offset within data; the last of it */
    uint64_t relocation_slot;            /* address of the entry for the hook word */
    uint64_t agent_name, hook_name;      /* offsets in the strings */
    struct elf_embedding *embedding;     /* null: the dynamic linker loads the agent */
    struct elf_span generated;           /* elf_generated.h */
    struct elf_part agent_index;         /* within the tables: index entries of its frames */
};

size_t elf_layout_new_segments(const struct elf_layout *layout);

/* Address of the image_header. */
uint64_t elf_layout_header(const struct elf_layout *layout);

/* Address of the page of the hook word, with which the RW segment ends, once the image_header has
   its address; and of the word itself. */
uint64_t elf_layout_hook_page(const struct elf_layout *layout);
uint64_t elf_layout_hook(const struct elf_layout *layout);

/* Offset in the file of an address of the original's or of a new segment's. */
uint64_t elf_layout_offset(const struct elf_layout *layout, uint64_t address);

/* Where the content of a table is put together: the original's where it stays as it is. */
uint8_t *elf_layout_table(const struct elf_layout *layout, uint64_t address);

/* Where an entry of the original's tables is now; and whether that is where it was. */
uint64_t elf_relocation_place(const struct elf_layout *layout, size_t index);
uint64_t elf_symbol_place(const struct elf_layout *layout, size_t index);
bool elf_relocation_stays(const struct elf_layout *layout, size_t index);
bool elf_symbol_stays(const struct elf_layout *layout);

/* Decides which tables grow where they are: see elf_room.h. */
void elf_tables_plan(struct elf_layout *layout, const char *agent);
/* Notes what these overwrite. */
bool elf_tables_note(struct elf_layout *layout, struct change_list *changes,
                     struct failure *failure);
/* Leaves room for the program headers at the start of `tables`, or finds it in the original. */
void elf_headers_build(struct elf_layout *layout);
/* Gives the dynamic tables each its new entry; what is copied for that goes to `tables`. */
void elf_tables_build(struct elf_layout *layout, const char *agent);
/* Sets the relocation of the hook word, once that has its address. */
void elf_tables_bind(struct elf_layout *layout);
/* Overwrites what was noted, last of all. */
void elf_tables_store(const struct elf_layout *layout);
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
