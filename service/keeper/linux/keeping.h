/* Inside the keeper process: service/keeper/keeper.h. */
#ifndef UMBRA_SERVICE_LINUX_KEEPING_H
#define UMBRA_SERVICE_LINUX_KEEPING_H

#include "service/base/tick_clock.h"

/*
 * Keeps what comes over the socket, until there is nothing to be kept. next: the path of the socket
 * at which a later service asks for it. Messages go to the log file, if it is one. All signals but
 * those that kill are blocked. Never returns.
 */
_Noreturn void keeping_run(int service, const char *next, const char *log_file,
                           const struct tick_clock *clock);

#endif
