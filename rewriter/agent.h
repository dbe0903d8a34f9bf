/* Which agent an instrumented image is to load, and how it names it. */
#ifndef UMBRA_REWRITER_AGENT_H
#define UMBRA_REWRITER_AGENT_H

#include "rewriter/failure.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* What the agent is for images of one format. */
struct agent_format {
    const char *name;          /* of its file */
    const char *bundle_prefix; /* how an image names it that has it beside it */
    bool is_always_bundled;    /* images cannot name a path */
    const char *const *places; /* patterns, from the directory of this tool; null at the end */
    const char *advice;        /* for who has none */
    /* False, with the reason, if that is not the agent. */
    bool (*check)(const char *path, uint8_t *bytes, size_t size, struct failure *failure);
};

extern const struct agent_format agent_elf, agent_pe;

struct agent {
    const struct agent_format *format;
    char path[PATH_MAX];   /* absolute */
    char needed[PATH_MAX]; /* as the image names it: the path, $ORIGIN/libhooks.so, hooks.dll */
    char bundle[PATH_MAX]; /* the copy that was made; empty if none was */
};

/*
 * Finds the agent at `wanted`, or, if that is null, where it is installed relative to this tool,
 * or where the build puts it; and checks that it is one. A `wanted` that is of another format is
 * passed over: in one tree there may be images of several.
 */
bool agent_find(struct agent *agent, const char *wanted, const struct agent_format *format,
                struct failure *failure);

/* Copies it beside `output` and has it found there. agent_unbundle takes that back. */
bool agent_bundle(struct agent *agent, const char *output, bool overwrite, struct failure *failure);
void agent_unbundle(struct agent *agent);

#endif
