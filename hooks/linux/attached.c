/* The agent in a process that ran already: trace/attached_agent.h. In place of embedded.c. */
#include "trace/attached_agent.h"

#include <stddef.h>

#include "hooks/agent.h"
#include "hooks/linux/attachment.h"
#include "hooks/linux/start.h"

extern struct attachment umbra_attachment __attribute__((visibility("default")));
struct attachment umbra_attachment = {0};

static enum { WAITING, BEGINNING, BEGUN, GIVEN_UP } state;

bool agent_begun(void)
{
    int waiting = WAITING;

    if (state != WAITING || !__atomic_compare_exchange_n((int *)&state, &waiting, BEGINNING, false,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return state == BEGUN;
    state = agent_begin_in((char *const *)umbra_attachment.environment) ? BEGUN : GIVEN_UP;
    return state == BEGUN;
}

const char *attachment_path(uint64_t base)
{
    const struct attached_image *images = (const struct attached_image *)umbra_attachment.images;

    for (uint64_t i = 0; i < umbra_attachment.image_count; i++)
        if (images[i].base == base)
            return (const char *)images[i].path;
    return NULL;
}
