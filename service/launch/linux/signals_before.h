/* What the signals were before the service changed them. */
#ifndef UMBRA_SERVICE_LINUX_SIGNALS_BEFORE_H
#define UMBRA_SERVICE_LINUX_SIGNALS_BEFORE_H

#include <signal.h>

struct signals_before {
    sigset_t mask;
    sigset_t ignored_by_us; /* not ignored before; by our posix_spawn, too */
};

#endif
