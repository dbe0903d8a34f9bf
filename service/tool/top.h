/* Shows what is hot in running programs: the verb top. */
#ifndef UMBRA_SERVICE_TOP_H
#define UMBRA_SERVICE_TOP_H

#include <stdint.h>

#include "service/tool/options.h"

/*
 * Becomes `grinder --mode=top` with these traces, which end with null, and with those of sessions
 * that come later: their numbers are above last. Returns an exit status, after one message, only if
 * that cannot be run.
 */
int top_run(const struct options *options, char *const *traces, uint32_t last);

#endif
