#include "service/server/answers.h"

#include <stddef.h>
#include <utlist.h>

#include "service/recorder/session.h"
#include "service/server/client.h"
#include "service/server/list.h"
#include "service/server/service.h"
#include "service/server/status.h"
#include "service/sessions/session_life.h"
#include "trace/protocol.h"

/* serve.c says it, when all is done. */
static void promise_end(struct client *client, const struct protocol_command *command)
{
    (void)command;
    client_wait_for_end(client);
    service_stop(client->service);
}

/* For snapshots and top. */
static void give_trace(struct client *client, const struct protocol_command *command)
{
    const struct session *session = recorder_find(&client->service->recorder, command->session);

    if (session && session->number == command->session)
        client->kind->give(client, session->trace.name, session->trace.fd);
}

static bool is_meant(const struct session *session, const struct protocol_command *command)
{
    return (!command->session || session->number == command->session) &&
           (!command->pid || (uint32_t)session->pid == command->pid);
}

/* And resumes. Answers how many sessions it was done to. */
static void pause_sessions(struct client *client, const struct protocol_command *command)
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

/* Without an answer, nobody has attached. */
static void change_hooks(struct client *client, const struct protocol_command *command)
{
    struct service *service = client->service;

    if (service->change_hooks)
        service->change_hooks(service->changer, client, (const struct protocol_change *)command);
}

static const struct answer answers[] = {
    {.kind = PROTOCOL_COMMAND_STATUS, .say = status_answer},
    {.kind = PROTOCOL_COMMAND_STOP, .say = promise_end, .comes_late = true},
    {.kind = PROTOCOL_COMMAND_LIST, .say = list_answer},
    {.kind = PROTOCOL_COMMAND_PAUSE, .say = pause_sessions},
    {.kind = PROTOCOL_COMMAND_RESUME, .say = pause_sessions},
    {.kind = PROTOCOL_COMMAND_OPEN, .say = give_trace, .has_descriptor = true},
    {.kind = PROTOCOL_COMMAND_HOOK, .say = change_hooks, .is_of_change = true},
    {.kind = PROTOCOL_COMMAND_UNHOOK, .say = change_hooks, .is_of_change = true},
};

const struct answer *answer_find(uint32_t kind)
{
    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
        if (answers[i].kind == kind)
            return &answers[i];
    }
    return NULL;
}

void answer_give(struct client *client, const struct protocol_command *command)
{
    const struct answer *answer = answer_find(command->kind);

    answer->say(client, command);
    if (answer->comes_late)
        return;
    client_send(client, NULL);
    client_end(client);
}
