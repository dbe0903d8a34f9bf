/* Where a service listens; protocol.h has the rendezvous file. */
#ifndef UMBRA_HOOKS_WINDOWS_RENDEZVOUS_H
#define UMBRA_HOOKS_WINDOWS_RENDEZVOUS_H

#include "hooks/windows/rendezvous_text.h"

/* Calls visit with what each rendezvous file says that is there, until it returns true. Passes
   over files that are not the user's alone, and those of a service that is known to be gone. */
bool rendezvous_each(bool (*visit)(const struct rendezvous *at, void *with), void *with);

#endif
