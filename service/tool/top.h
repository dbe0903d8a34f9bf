/* Shows what is hot in running programs: the verb top. */
#ifndef UMBRA_SERVICE_TOP_H
#define UMBRA_SERVICE_TOP_H

#include "service/tool/options.h"
#include "service/tool/table.h"

/*
 * Becomes `grinder --mode=top` with these traces, which end with null. Returns an exit status,
 * after one message, only if that cannot be run.
 */
int top_run(const struct options *options, char *const *traces);

#endif
