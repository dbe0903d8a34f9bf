/* The verbs that speak to a running service. All return an exit status, after one message if bad.
 */
#ifndef UMBRA_SERVICE_CONTROL_H
#define UMBRA_SERVICE_CONTROL_H

#include <stdbool.h>

#include "service/options.h"
#include "service/table.h"

int control_status(const struct options *options);

/* Returns when the service has ended. */
int control_stop(const struct options *options);

/* 1 if no session is the one that was meant. */
int control_pause(const struct options *options);

int control_list(const struct options *options);

/* Fills the table, which is the caller's, with the sessions that list shows: JSON, or LIST_COLUMNS
 * and a line a session. */
int control_sessions(const struct options *options, bool as_json, struct table *table);

#endif
