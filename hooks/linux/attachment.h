/* What the agent knows of images that were instrumented in a process that ran already. */
#ifndef UMBRA_HOOKS_LINUX_ATTACHMENT_H
#define UMBRA_HOOKS_LINUX_ATTACHMENT_H

#include <stdint.h>

/* The file that has the manifest of the image at this base; null where that is the image's own. */
const char *attachment_path(uint64_t base);

/* The thunks, mapped for us; null: they are to be mapped from our own file. */
void *attachment_thunks(void);

/* The name of an abstract socket that the service listens at, behind its first zero; null: the environment tells. */
const char *attachment_socket(void);

#endif
