#include "service/recorder/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "service/base/file.h"
#include "service/base/message.h"
#include "service/traces/trace_dir.h"

#define SUFFIX_SIZE 16

void session_write_beside(const struct session *session, const char *suffix, const char *what,
                          const void *bytes, size_t size)
{
    char name[TRACE_FILE_NAME_SIZE + SUFFIX_SIZE];

    snprintf(name, sizeof(name), "%.*s%s", (int)(strlen(session->trace.name) - strlen(".bin")),
             session->trace.name, suffix);
    if (!bytes || !file_replace_in(session->directory->fd, name, bytes, size))
        message("%s/%s: cannot write the %s: %s", session->directory->path, name, what,
                strerror(errno));
}

uint64_t session_bytes(const struct session *session)
{
    uint64_t used = trace_file_used(&session->trace);

    return used < session->trace.capacity ? used : session->trace.capacity;
}
