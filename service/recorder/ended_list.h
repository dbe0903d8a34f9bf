/* The last sessions that ended, as long as the service lives. */
#ifndef UMBRA_SERVICE_ENDED_LIST_H
#define UMBRA_SERVICE_ENDED_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/traces/trace_file.h"

#define ENDED_LIST_LIMIT 1000 /* --help says so */

/* What is kept of a session that ended. */
struct ended_session {
    uint32_t number;
    pid_t pid;
    uint64_t began_ns;
    uint64_t bytes;
    struct trace_file_end end;
    char trace[TRACE_FILE_NAME_SIZE];
    char *elsewhere; /* its path, where it is not in the trace directory; else null */
};

/* The oldest one makes room; memory is taken as it is needed, and without any it is left out. */
struct ended_list {
    struct ended_session *sessions; /* a ring of ENDED_LIST_LIMIT */
    uint64_t count;                 /* since the start */
};

/* Keeps a copy; `elsewhere` becomes the list's. */
void ended_list_add(struct ended_list *list, const struct ended_session *session);
void ended_list_free(struct ended_list *list);

/* How many sessions it has: those before are forgotten. */
size_t ended_list_size(const struct ended_list *list);

/* The one with the lowest number from first on; null if there is none. */
const struct ended_session *ended_list_find(const struct ended_list *list, uint32_t first);

#endif
