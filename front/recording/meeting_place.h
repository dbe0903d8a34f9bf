/*
 * Where the service of a recording and its programs find each other.
 *
 * That is where any service is found (trace/protocol.h), unless it cannot be: somebody else has
 * made /tmp/umbra-UID, XDG_RUNTIME_DIR is another user's, or a user namespace shows root's /tmp as
 * nobody's. Then it is a folder within the recording, or a new one in /tmp if a socket's path has
 * no room for that. Nobody else can take it. UMBRA_RUNTIME_DIR tells both of it.
 */
#ifndef UMBRA_FRONT_MEETING_PLACE_H
#define UMBRA_FRONT_MEETING_PLACE_H

#include "front/recording/recording.h"

/* Sets UMBRA_RUNTIME_DIR and notes that in the recording, if it is needed. */
void meeting_place_choose(const struct recording *recording, const char *instance);

/* Sets it as it was noted. */
void meeting_place_find(const struct recording *recording);

/* Removes it when the recording has ended, unless a service is there. */
void meeting_place_leave(const struct recording *recording);

#endif
