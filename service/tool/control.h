/* The verbs that speak to a running service. All return an exit status, after one message if bad.
 */
#ifndef UMBRA_SERVICE_CONTROL_H
#define UMBRA_SERVICE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/base/connection_peer.h"
#include "service/tool/options.h"
#include "service/tool/table.h"

int control_status(const struct options *options);

/* Returns when the service has ended. */
int control_stop(const struct options *options);

/* The same of the one that has attached to the process. */
int control_detach(const struct options *options);

/* Collects the lines of an answer, up to its end. False: errno says why. */
bool control_read_answer(int connection, struct table *answer);

/* Connects to the service that has attached to the process; its owner closes it. -1 after one message. */
int control_connect_attached(const struct options *options, struct connection_peer *service);

/* 1 if no session is the one that was meant. */
int control_pause(const struct options *options);

int control_list(const struct options *options);

/* Fills the table, which is the caller's, with the sessions that list shows: SHOW_LIST_COLUMNS and
 * a line a session. */
int control_sessions(const struct options *options, struct table *table);

/* Opens the trace of a running session; its name goes to name. Returns -1 after one message. */
int control_open(const struct options *options, uint32_t session, char *name, size_t size);

#endif
