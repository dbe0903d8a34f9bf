/*
 * The agent put into a static executable; trace/embedded_agent.h draws the result. Its segments
 * keep their distances, so that its own code and unwind information need no change; what a dynamic
 * linker would have bound is bound here, to addresses as linked.
 */
#ifndef UMBRA_REWRITER_ELF_EMBEDDING_H
#define UMBRA_REWRITER_ELF_EMBEDDING_H

#include "rewriter/base/buffer.h"
#include "rewriter/base/input_file.h"
#include "rewriter/elf/image/elf_image.h"
#include "rewriter/elf/unwind/eh_frame.h"

#define EMBEDDING_LOADS 4 /* load segments of the agent; the last, the stash, has no bytes */

struct elf_embedding {
    struct input_file file;
    struct elf_image image;
    struct eh_frame frame;
    Elf64_Phdr loads[EMBEDDING_LOADS]; /* once placed */
    uint64_t address;                  /* where its address 0 goes */
    struct buffer bytes;               /* its segments as far as they are in the file */
    struct buffer pointers;            /* uint64_t: what moves with the image */
    size_t pointers_offset;            /* within the data */
    uint64_t pointers_address;
    /* Thread-local storage of the image, preceded by the agent's. */
    uint64_t tls_address, tls_file_size, tls_memory_size, tls_slot;
};

/* Reads the agent. On failure there is nothing to free. */
bool elf_embedding_open(struct elf_embedding *embedding, const char *path, struct failure *failure);
void elf_embedding_close(struct elf_embedding *embedding);

/* How many program headers an image gains by it. */
size_t elf_embedding_segments(const struct elf_embedding *embedding, const struct elf_image *image);

/*
 * Appends to `data`, which lies at data_address, the image's thread-local storage, and room for the
 * list of pointers.
 */
bool elf_embedding_append(struct elf_embedding *embedding, const struct elf_image *image,
                          struct buffer *data, uint64_t data_address, struct failure *failure);

/* What the agent is bound to; addresses as linked, delta: address - offset in the file. */
struct elf_embedding_place {
    uint64_t address; /* of the agent, a page */
    uint64_t delta;
    uint64_t entry;     /* the program's own entry point */
    uint64_t hook_word; /* where the agent will put the address of umbra_enter_13 */
};

/* Binds the agent, and fills in the pointers. */
bool elf_embedding_bind(struct elf_embedding *embedding, const struct elf_embedding_place *place,
                        struct buffer *data, struct failure *failure);

/* Address of the agent's entry point, once bound. */
uint64_t elf_embedding_start(const struct elf_embedding *embedding);

/* Address of what its system call mlockall goes to, once bound. */
uint64_t elf_embedding_lock(const struct elf_embedding *embedding);

/* Describes the thread-local storage anew. */
void elf_embedding_tls(const struct elf_embedding *embedding, uint64_t delta, Elf64_Phdr *header);

#endif
