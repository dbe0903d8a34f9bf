/* Which agent an instrumented image is to load: finding it, and putting a copy beside the image. */
#ifndef UMBRA_REWRITER_AGENT_H
#define UMBRA_REWRITER_AGENT_H

#include "rewriter/format/agent_format.h"

/*
 * Finds the agent at `wanted`, or, if that is null, where it is installed relative to this tool,
 * or where the build puts it; and checks that it is one. A `wanted` that is of another format is
 * passed over: in one tree there may be images of several.
 */
bool agent_find(struct agent *agent, const char *wanted, const struct agent_format *format,
                struct failure *failure);

/* Copies it beside `output` and has it found there; a copy that is there, of the same user's or of
   root's, stays. agent_unbundle takes that back. */
bool agent_bundle(struct agent *agent, const char *output, bool overwrite, struct failure *failure);
void agent_unbundle(struct agent *agent);

#endif
