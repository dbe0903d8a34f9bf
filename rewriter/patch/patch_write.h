/* Putting the planned patches into the code of an image, whatever its format. */
#ifndef UMBRA_REWRITER_PATCH_WRITE_H
#define UMBRA_REWRITER_PATCH_WRITE_H

#include "rewriter/patch/change_list.h"
#include "rewriter/patch/patch_plan.h"
#include "rewriter/patch/stub.h"
#include "support/failure.h"

/* The file that the code's bytes lie in. */
struct patched_file {
    const char *path; /* for messages */
    const uint8_t *bytes;
};

/* The bytes of code at an address, `size` of them, which are there. */
uint8_t *code_bytes(const struct code *code, uint64_t address, size_t size);

/* Notes bytes of code that will be overwritten. */
bool patch_note(struct change_list *changes, const struct code *code,
                const struct patched_file *file, uint64_t address, size_t size,
                struct failure *failure);
/* Notes what patch_write overwrites besides prologues. */
bool patch_note_all(struct change_list *changes, const struct patch_plan *plan,
                    const struct patched_file *file, struct failure *failure);

/* Appends a stub for every function that is to be hooked; moves has one for each function. */
bool patch_stubs_append(struct stub_segment *stubs, const struct patch_plan *plan, const char *path,
                        struct stub_moves *moves, struct failure *failure);

/* Binds the stubs, and overwrites the code. */
void patch_write(const struct patch_plan *plan, struct stub_segment *stubs,
                 const struct stub_targets *targets);

#endif
