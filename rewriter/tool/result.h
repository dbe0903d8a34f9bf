/* What came of it, for other programs: --result-fd (image/instrument_result.h). */
#ifndef UMBRA_REWRITER_RESULT_H
#define UMBRA_REWRITER_RESULT_H

#include "image/instrument_result.h"
#include "rewriter/format/rewrite_options.h"

/* From now on, if memory runs out, which ends the process, that is written to the descriptor. */
void result_begin(int descriptor);

/* An image was written, or, with a filter that leaves nothing, one without hooks. */
void result_take_counts(struct instrument_result *result, const struct rewrite_result *counts);

/* An image could not be written. `path`, in front of why, is left out. */
void result_take_failure(struct instrument_result *result, enum instrument_reason reason,
                         const struct failure *why, const char *path);

/* The patterns that have matched nothing. */
void result_take_unmatched(struct instrument_result *result, const struct filter *filter);

/* Writes it, once, where result_begin said; if that was not called, nowhere. */
bool result_write(const struct instrument_result *result, struct failure *failure);

#endif
