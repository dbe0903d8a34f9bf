/* Where a trace goes that its directory has no room for. */
#ifndef UMBRA_SERVICE_RESCUE_H
#define UMBRA_SERVICE_RESCUE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The folders that are tried, in this order, made for this user alone if they are not there:
 *
 *      0   $XDG_RUNTIME_DIR/umbra/rescued
 *      1   /dev/shm/umbra-UID
 *      2   /var/tmp/umbra-UID
 *
 * Opens number `which`. Returns -1 if that is none to write to: of another user, no folder, not
 * there; -2 behind the last one.
 */
int rescue_open(int which, char *path, size_t size);

#endif
