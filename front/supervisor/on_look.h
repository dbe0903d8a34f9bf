/* A file is about to be looked at. If a copy is bound over it, the caller is told of the original.
 */
#ifndef UMBRA_FRONT_ON_LOOK_H
#define UMBRA_FRONT_ON_LOOK_H

#include "front/supervisor/waiting_call.h"

/* By stat or statx. Returns whether the call has been answered. */
bool on_stat(const struct waiting_call *call);

/* By access(2), which asks for the real user's rights. Returns whether the call has been answered.
   */
bool on_access(const struct waiting_call *call);

#endif
