/* The agent, and what was added to the images, in the process. */
#ifndef UMBRA_SERVICE_ATTACH_MAP_H
#define UMBRA_SERVICE_ATTACH_MAP_H

#include "service/attach/attach_settings.h"
#include "service/attach/linux/attached.h"

/* All of it is mapped, by calls of a thread that stands meanwhile, and nothing leads there yet; or nothing is. An image
   whose place was taken since it was planned is said and left alone: it is as if it were closed. */
bool attach_map(struct attached *attached, const struct attach_settings *settings, struct failure *failure);

/* The same for the images from that one on, beside what is mapped already. */
bool attach_map_later(struct attached *attached, const struct attach_settings *settings, size_t first,
                      struct failure *failure);

/* Takes all of it out, and what the agent has taken since. Nothing leads there any more. False: it is still there. */
bool attach_unmap(const struct attached *attached, struct failure *failure);

#endif
