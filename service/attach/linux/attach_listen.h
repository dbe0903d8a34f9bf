/* Where a program that sees other files than ours connects to the service. */
#ifndef UMBRA_SERVICE_ATTACH_LISTEN_H
#define UMBRA_SERVICE_ATTACH_LISTEN_H

#include "service/attach/linux/attached.h"
#include "service/attach/linux/tracees.h"

/*
 * Begins to listen at an abstract socket of the program's network namespace, once: attached->listener, and
 * attached->socket_name. A thread that stands makes the socket and closes it at once; it is ours. So no file is made,
 * and no descriptor stays in the program.
 */
bool attach_listen(struct attached *attached, struct tracees *tracees, struct failure *failure);

#endif
