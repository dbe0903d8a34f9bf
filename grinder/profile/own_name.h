/* What a process's program is called by who ran it. */
#ifndef UMBRA_GRINDER_OWN_NAME_H
#define UMBRA_GRINDER_OWN_NAME_H

#include "trace/trace_format.h"

#define OWN_NAME_SIZE 256

/* The last part of a path, of Linux or Windows. */
const char *own_name_of_path(const char *path);

/*
 * The last part of argument 0, which a link may have given it, and which a file with several names
 * goes by:
 *
 *      /usr/bin/redis-check-rdb run as redis-server        redis-server
 *      /usr/bin/dash run as -sh                            sh
 *
 * The executable's where there is none. Not sanitised.
 */
void own_name(char name[OWN_NAME_SIZE], const struct trace_header *header);

#endif
