#include "service/recorder/recorder.h"

#include <utlist.h>

#include "service/base/file.h"
#include "service/recorder/session.h"

const struct session *recorder_find(const struct recorder *recorder, uint32_t first)
{
    const struct session *session, *found = NULL;

    DL_FOREACH(recorder->sessions, session)
    {
        if (session->number >= first && (!found || session->number < found->number))
            found = session;
    }
    return found;
}

unsigned recorder_running_by_tcp(const struct recorder *recorder)
{
    const struct session *session;
    unsigned count = 0;

    DL_FOREACH(recorder->sessions, session)
    count += session->is_tcp;
    return count;
}

unsigned recorder_sampled(const struct recorder *recorder)
{
    const struct session *session;
    unsigned count = 0;

    DL_FOREACH(recorder->sessions, session)
    count += session->samples != NULL;
    return count;
}

uint64_t recorder_running_bytes(const struct recorder *recorder)
{
    const struct session *session;
    uint64_t bytes = 0;

    DL_FOREACH(recorder->sessions, session)
    bytes += session_bytes(session);
    return bytes;
}

bool recorder_sync(const struct recorder *recorder)
{
    const struct ended_list *list = &recorder->ended_list;

    if (list->count > ENDED_LIST_LIMIT || list->count < recorder->ended)
        return file_sync_all(recorder->trace_dir.fd);
    for (size_t i = 0; i < ended_list_size(list); i++) {
        if (!file_sync(recorder->trace_dir.fd, list->sessions[i].trace))
            return false;
    }
    return file_sync(recorder->trace_dir.fd, NULL);
}
