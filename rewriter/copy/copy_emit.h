/* Putting the copies of bodies behind the stubs. */
#ifndef UMBRA_REWRITER_COPY_EMIT_H
#define UMBRA_REWRITER_COPY_EMIT_H

#include "rewriter/copy/copy_plan.h"
#include "rewriter/copy/copy_writer.h"
#include "support/failure.h"

/*
 * Appends a copy of each member that is certain; all stubs are there. The writer's set
 * is empty before. Returns false if they would take too much room.
 */
bool copies_append(struct copy_writer *writer, const struct copy_plan *plan,
                   const struct patch_plan *patches, const char *path, struct failure *failure);

#endif
