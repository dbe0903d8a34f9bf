/* The parts of an instrumented image while it is put together; see elf_writer.h. */
#ifndef UMBRA_REWRITER_ELF_LAYOUT_H
#define UMBRA_REWRITER_ELF_LAYOUT_H

#include "rewriter/base/buffer.h"
#include "rewriter/copy/copy_set.h"
#include "rewriter/elf/code/elf_code.h"
#include "rewriter/elf/image/elf_image.h"
#include "rewriter/elf/write/elf_embedding.h"
#include "rewriter/elf/write/elf_room.h"
#include "rewriter/patch/change_list.h"
#include "rewriter/patch/stub.h"

#define ELF_NEW_SEGMENTS   3 /* and those of an embedded agent */
#define ELF_NEW_SECTIONS   5
#define ELF_STUBS_SECTION  2 /* place of .umbra.stubs among these */
#define ELF_COPY_SECTIONS  1 /* more, if bodies are copied */
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

/* An exported function that is copied: index of its dynamic symbol, place in the function list. */
struct elf_export {
    uint32_t symbol, function;
};

struct elf_layout {
    const struct elf_image *image;
    uint64_t delta; /* of each new segment: address - offset in the file */
    uint64_t tables_address, data_address;
    struct buffer tables, data; /* R, RW */
    struct stub_segment stubs;  /* RX: stubs, copies */
    size_t locks;               /* among these: elf_memory_lock_stubs.h */
    size_t stubs_size;          /* of the stubs and what stands in for system calls */
    struct copy_set copies;
    bool has_copies;                            /* or may have had: has sections for them */
    struct buffer debug_frames;                 /* elf_copy_debug.h */
    struct elf_room room;
    struct elf_overwrite overwrites[ELF_OVERWRITES];
    size_t overwrite_count;
    struct buffer overwriting;
    struct elf_place headers, symbols, versions, strings, hash, gnu_hash, relocations;
    struct elf_export *exports; /* that have a symbol of their copy: elf_copy_exports.h; owned */
    size_t export_count;
    struct elf_part manifest;
    struct elf_part frames, frame_index; /* unwind information of stubs and copies; .eh_frame_hdr */
    size_t language_data;                /* offset within the tables: that of copies, up to frames */
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

#endif
