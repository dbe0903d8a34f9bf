/* A service from its start to its end. */
#ifndef UMBRA_SERVICE_SERVE_H
#define UMBRA_SERVICE_SERVE_H

#include <stdbool.h>

#include "service/server/service.h"

/* Accepts connections from here on. Returns false after one message, with nothing left behind. */
bool serve_open(struct service *service, const struct service_settings *settings);

/* Runs settings->command, if there is one. Returns false after one message. */
bool serve_run_command(struct service *service);

/* Serves until it is told to stop or the command has ended. Returns the exit status. */
int serve_run(struct service *service);

/* Completes all traces that can be, says which can not, and frees everything. */
void serve_close(struct service *service);

#endif
