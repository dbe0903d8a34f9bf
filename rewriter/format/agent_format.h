/* The agent that an instrumented image is to load, and how images of a format name it. */
#ifndef UMBRA_REWRITER_AGENT_FORMAT_H
#define UMBRA_REWRITER_AGENT_FORMAT_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "support/failure.h"

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

struct agent {
    const struct agent_format *format;
    char path[PATH_MAX];   /* absolute */
    char needed[PATH_MAX]; /* as the image names it: the path, $ORIGIN/libhooks.so, hooks.dll */
    char bundle[PATH_MAX]; /* the copy that was made; empty if none was */
};

#endif
