#include "service/base/event_loop.h"

#include <winsock2.h>
#include <windows.h>
#include <stdlib.h>
#include <utlist.h>

/* The loop waits for sockets only. For all else a thread waits, and writes to a socket. */
bool event_loop_open(struct event_loop *loop)
{
    *loop = (struct event_loop){.fd = -1};
    return true;
}

void event_loop_close(struct event_loop *loop)
{
    loop->sources = NULL;
}

bool event_loop_add(struct event_loop *loop, struct event_source *source)
{
    DL_APPEND(loop->sources, source);
    return true;
}

void event_loop_remove(struct event_loop *loop, struct event_source *source)
{
    DL_DELETE(loop->sources, source);
}

static struct event_source *first_ready(struct event_loop *loop, const WSAPOLLFD *polls)
{
    struct event_source *source;

    DL_FOREACH(loop->sources, source)
    {
        if ((polls++)->revents)
            return source;
    }
    return NULL;
}

struct event_source *event_loop_wait(struct event_loop *loop, int timeout_ms)
{
    struct event_source *source;
    ULONG count = 0, at = 0;
    WSAPOLLFD *polls;

    DL_COUNT(loop->sources, source, count);
    polls = calloc(count, sizeof(*polls));
    if (!polls) {
        Sleep(10); /* no memory: it may come back */
        return NULL;
    }
    DL_FOREACH(loop->sources, source)
    polls[at++] = (WSAPOLLFD){.fd = (SOCKET)source->fd, .events = POLLRDNORM};
    source = WSAPoll(polls, count, timeout_ms) > 0 ? first_ready(loop, polls) : NULL;
    free(polls);
    if (!source)
        return NULL;
    DL_DELETE(loop->sources, source); /* to the end: they take turns */
    DL_APPEND(loop->sources, source);
    return source;
}

int64_t event_loop_now(void)
{
    return (int64_t)GetTickCount64();
}
