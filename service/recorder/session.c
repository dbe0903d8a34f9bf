#include "service/recorder/session.h"

#include <stdio.h>
#include <string.h>

#include "service/recorder/trace_dir.h"

bool session_path_beside(const struct session *session, const char *suffix, char *path, size_t size)
{
    int length =
        snprintf(path, size, "%s/%.*s%s", session->directory->path,
                 (int)(strlen(session->trace.name) - strlen(".bin")), session->trace.name, suffix);

    return length > 0 && (size_t)length < size;
}

uint64_t session_bytes(const struct session *session)
{
    uint64_t used = trace_file_used(&session->trace);

    return used < session->trace.capacity ? used : session->trace.capacity;
}
