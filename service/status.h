/* What the service does and needs, for `status`. */
#ifndef UMBRA_SERVICE_STATUS_H
#define UMBRA_SERVICE_STATUS_H

#include <stdbool.h>

struct client;

/* Says some lines `KEY: VALUE` or, as JSON, one object; and the end of the answer. */
void status_say(struct client *client, bool as_json);

#endif
