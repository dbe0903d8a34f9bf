/* The agent, and what was added to the images, in the process. */
#ifndef UMBRA_SERVICE_ATTACH_MAP_H
#define UMBRA_SERVICE_ATTACH_MAP_H

#include "service/attach/attach_settings.h"
#include "service/attach/linux/attached.h"

/* All of it is mapped, by calls of a thread that stands meanwhile, and nothing leads there yet; or nothing is. */
bool attach_map(struct attached *attached, const struct attach_settings *settings, struct failure *failure);

/* Nothing leads there. */
void attach_unmap(const struct attached *attached);

#endif
