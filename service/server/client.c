#include "service/server/client.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <utlist.h>

#include "service/base/message.h"
#include "service/server/service.h"

#define LINE_SIZE               CLIENT_LINE_SIZE
#define COMPLAINTS_OF_STRANGERS 100

void client_send(struct client *client, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    int length = 0;

    if (format) {
        va_start(arguments, format);
        length = vsnprintf(line, sizeof(line), format, arguments);
        va_end(arguments);
    }
    if (length >= LINE_SIZE)
        length = LINE_SIZE - 1;
    client->kind->say(client, line, length < 0 ? 0 : (size_t)length);
}

void client_wait_for_end(struct client *client)
{
    client->awaits_the_end = true;
    event_timer_clear(&client->service->loop, &client->timer);
}

/* It had time enough. */
static void drop(void *owner)
{
    struct client *client = owner;

    client_refuse(client, "dropped", "it said nothing, or not all, for 3 s");
    client->service->refused++;
    client_end(client);
}

/* If as many of the kind are there as may be, drops the one that has waited longest. */
static void make_room(struct service *service, const struct client_kind *kind)
{
    struct client *client, *oldest = NULL;
    unsigned count = 0;

    DL_FOREACH(service->clients, client)
    {
        if (client->kind != kind)
            continue;
        count++;
        if (!oldest && !client->awaits_the_end)
            oldest = client;
    }
    if (count < kind->limit || !oldest)
        return;
    service->refused++;
    client_end(oldest);
}

struct client *client_begin(struct service *service, const struct client_kind *kind, int connection,
                            const char *name)
{
    struct client *client;

    make_room(service, kind);
    client = calloc(1, sizeof(*client));
    if (!client)
        goto err;
    client->service = service;
    client->kind = kind;
    snprintf(client->name, sizeof(client->name), "%s", name);
    client->source = (struct event_source){.fd = connection, .ready = kind->ready, .owner = client};
    if (!event_loop_add(&service->loop, &client->source))
        goto err;
    DL_APPEND(service->clients, client);
    client->timer = (struct event_timer){.due = drop, .owner = client};
    event_timer_set(&service->loop, &client->timer, CLIENT_TIMEOUT_MS);
    return client;
err:
    service->refused++;
    free(client);
    kind->close(connection);
    return NULL;
}

int client_give_away(struct client *client)
{
    struct service *service = client->service;
    int connection = client->source.fd;

    event_loop_remove(&service->loop, &client->source);
    event_timer_clear(&service->loop, &client->timer);
    DL_DELETE(service->clients, client);
    free(client);
    return connection;
}

void client_end(struct client *client)
{
    void (*close_it)(int) = client->kind->close;

    close_it(client_give_away(client));
}

void client_refuse(struct client *client, const char *verb, const char *why)
{
    struct service *service = client->service;

    if (client->kind->may_be_any && ++service->strangers > COMPLAINTS_OF_STRANGERS)
        return;
    message("%s %s: %s", verb, client->name, why);
    if (service->strangers == COMPLAINTS_OF_STRANGERS)
        message("what others at the TCP port do wrong is only counted from here on: see status");
}
