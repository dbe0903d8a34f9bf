#include "service/server/pause.h"

#include <utlist.h>

#include "service/server/client.h"
#include "service/server/service.h"
#include "service/sessions/session_life.h"

static bool is_meant(const struct session *session, const struct protocol_command *command)
{
    return (!command->session || session->number == command->session) &&
           (!command->pid || (uint32_t)session->pid == command->pid);
}

void pause_answer(struct client *client, const struct protocol_command *command)
{
    struct recorder *recorder = &client->service->recorder;
    bool is_paused = command->kind == PROTOCOL_COMMAND_PAUSE;
    struct session *session;
    unsigned count = 0;

    if (!command->session && !command->pid)
        recorder->is_paused = is_paused;
    DL_FOREACH(recorder->sessions, session)
    {
        if (is_meant(session, command))
            count += session_pause(session, is_paused);
    }
    client_send(client, "sessions\t%u", count);
}
