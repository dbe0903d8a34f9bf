/* What copies change in the original: tables, trampolines; and the addresses they wait for. */
#ifndef UMBRA_REWRITER_COPY_WRITE_H
#define UMBRA_REWRITER_COPY_WRITE_H

#include "rewriter/copy/copy_emit.h"
#include "rewriter/patch/patch_write.h"

/* Notes what copies_store overwrites. */
bool copies_note(struct change_list *changes, const struct copy_plan *plan,
                 const struct patch_plan *patches, const struct patched_file *file,
                 struct failure *failure);

/* Fills in what waits for addresses, and overwrites the original's code and tables, but for
   entries of 8 bytes, which are the format's business. */
void copies_store(const struct copy_writer *writer, const struct copy_plan *plan,
                  const struct patch_plan *patches, const struct stub_targets *targets);

#endif
