#include "service/pause.h"

#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "service/client.h"
#include "service/message.h"
#include "service/sampling/samples.h"
#include "service/service.h"
#include "service/session.h"

static bool is_meant(const struct session *session, const struct protocol_command *command)
{
    return (!command->session || session->number == command->session) &&
           (!command->pid || (uint32_t)session->pid == command->pid);
}

/* One that is paused already is not paused once more. */
static bool set_paused(struct session *session, bool paused)
{
    if (session->paused == paused)
        return true;
    samples_gather(session->service);
    if (trace_file_pause(&session->trace, paused)) {
        session->paused = paused;
        return true;
    }
    message("session %u: cannot write to its trace: %s", session->number, strerror(errno));
    return false;
}

void pause_say(struct client *client, const struct protocol_command *command)
{
    struct service *service = client->service;
    bool paused = command->kind == PROTOCOL_COMMAND_PAUSE;
    struct session *session;
    unsigned count = 0;

    if (!command->session && !command->pid)
        service->paused = paused;
    DL_FOREACH(service->sessions, session)
    {
        if (is_meant(session, command))
            count += set_paused(session, paused);
    }
    client_say(client, "%s: %u session%s", paused ? "paused" : "resumed", count,
               count == 1 ? "" : "s");
    client_say(client, NULL);
}
