/* Which images of a process get hooks, and where what is added to them goes. */
#ifndef UMBRA_SERVICE_ATTACH_PLAN_H
#define UMBRA_SERVICE_ATTACH_PLAN_H

#include "service/attach/attach_settings.h"
#include "service/attach/linux/attached.h"

/* Makes the instrumented files. Images that cannot have hooks are said and left out; false if none can. */
bool attach_plan(struct attached *attached, const struct attach_settings *settings, struct failure *failure);

/* The same of images that were loaded since, which are put behind the others; there may be none. Hooks of those that
   were closed are forgotten. False: it could not be looked for them. */
bool attach_plan_later(struct attached *attached, const struct attach_settings *settings, struct failure *failure);

#endif
