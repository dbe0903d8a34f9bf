/* The ways in: where programs and tools of a platform connect to its service. */
#ifndef UMBRA_SERVICE_LISTENERS_H
#define UMBRA_SERVICE_LISTENERS_H

#include <stdbool.h>

struct service;

/* Lets in who connects from here on; service->endpoint is open. Returns false after one message. */
bool listeners_open(struct service *service);

/* The same at one listener more, the caller's, to be closed after the service. Linux alone. Returns
   false, errno set. */
bool listeners_add(struct service *service, int listener);

/* Nobody is let in or answered any more: a message says who has waited for it in vain. Whom another
   service takes over (systemd) waits on. */
void listeners_say_unserved(struct service *service);

#endif
