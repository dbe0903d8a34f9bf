/* Which agent an instrumented image is to load, and how it names it. */
#ifndef UMBRA_REWRITER_AGENT_H
#define UMBRA_REWRITER_AGENT_H

#include "rewriter/failure.h"

#include <limits.h>

struct agent {
    char path[PATH_MAX];   /* absolute */
    char needed[PATH_MAX]; /* as the image names it: the path, or $ORIGIN/libhooks.so */
    char bundle[PATH_MAX]; /* the copy that was made; empty if none was */
};

/*
 * Finds the agent at `wanted`, or, if that is null, where it is installed relative to this tool,
 * or where the build puts it; and checks that it is one.
 */
bool agent_find(struct agent *agent, const char *wanted, struct failure *failure);

/* Copies it beside `output` and has it found there. agent_unbundle takes that back. */
bool agent_bundle(struct agent *agent, const char *output, bool overwrite, struct failure *failure);
void agent_unbundle(struct agent *agent);

#endif
