/* What copied bodies find beside the hook word (trace_header.frames, words, on_site, on_wait). */
#ifndef UMBRA_HOOKS_LINUX_COPY_WORDS_H
#define UMBRA_HOOKS_LINUX_COPY_WORDS_H

#include <stdbool.h>

#include "trace/trace_format.h"

/* header: a page that lies where an image has its hook word. counts: calls are counted in copies. */
void copy_words_set(struct trace_header *header, bool counts, bool is_recorded);

#endif
