/* What the agent knows of images that were instrumented in a process that ran already. */
#ifndef UMBRA_HOOKS_LINUX_ATTACHMENT_H
#define UMBRA_HOOKS_LINUX_ATTACHMENT_H

#include <stdint.h>

/* The file that has the manifest of the image at this base; null where that is the image's own. */
const char *attachment_path(uint64_t base);

#endif
