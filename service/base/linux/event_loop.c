#include "service/base/event_loop.h"

#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

bool event_loop_open(struct event_loop *loop)
{
    *loop = (struct event_loop){.fd = epoll_create1(EPOLL_CLOEXEC)};
    return loop->fd >= 0;
}

void event_loop_close(struct event_loop *loop)
{
    if (loop->fd >= 0)
        close(loop->fd);
    loop->fd = -1;
}

bool event_loop_add(struct event_loop *loop, struct event_source *source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};

    return epoll_ctl(loop->fd, EPOLL_CTL_ADD, source->fd, &event) == 0;
}

void event_loop_remove(struct event_loop *loop, struct event_source *source)
{
    epoll_ctl(loop->fd, EPOLL_CTL_DEL, source->fd, NULL);
}

struct event_source *event_loop_wait(struct event_loop *loop, int timeout_ms)
{
    struct epoll_event event;

    return epoll_wait(loop->fd, &event, 1, timeout_ms) == 1 ? event.data.ptr : NULL;
}

int64_t event_loop_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}
