/* Which processes can be attached to. */
#ifndef UMBRA_SERVICE_ATTACH_CHECK_H
#define UMBRA_SERVICE_ATTACH_CHECK_H

#include <stdbool.h>
#include <sys/types.h>

#include "service/attach/linux/address_space.h"

/* The failure's text goes on from "process N". */
bool attach_check_process(pid_t pid, struct failure *failure);

/* The same by what it has mapped. */
bool attach_check_mapped(const struct address_space *space, struct failure *failure);

#endif
