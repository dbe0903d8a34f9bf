/* What services that were killed have left in the folders where they are found (endpoint.h). */
#ifndef UMBRA_SERVICE_LINUX_LEFTOVERS_H
#define UMBRA_SERVICE_LINUX_LEFTOVERS_H

#include <stdbool.h>

/* Is there a socket of that path at which nobody listens any more? Whoever does listen learns nothing
   of the question. */
bool leftovers_is_deserted(const char *socket_path);

/*
 * Removes from a folder of ours, of instances whose lock nobody holds, INSTANCE.socket, .rendezvous
 * and .lock; and each INSTANCE.keeper that is deserted. A socket at which somebody listens stays:
 * systemd holds those that it made.
 */
void leftovers_sweep(const char *folder);

#endif
