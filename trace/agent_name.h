/* The agents by their files' names, without folders: one for each processor. */
#ifndef UMBRA_AGENT_NAME_H
#define UMBRA_AGENT_NAME_H

#include <stdbool.h>
#include <string.h>

#include "trace/image_manifest.h"

#define IMAGE_AGENT_NAME_I386    "libhooks32.so"
#define IMAGE_PE_AGENT_NAME_I386 "hooks32.dll"

static inline bool agent_name_is(const char *name)
{
    return !strcmp(name, IMAGE_AGENT_NAME) || !strcmp(name, IMAGE_AGENT_NAME_I386);
}

/* Of Windows programs. */
static inline bool agent_name_is_windows(const char *name)
{
    return !strcmp(name, IMAGE_PE_AGENT_NAME) || !strcmp(name, IMAGE_PE_AGENT_NAME_I386);
}

#endif
