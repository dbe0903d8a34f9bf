/* The agent in a process that ran already: trace/attached_agent.h. In place of embedded.c. */
#include "trace/attached_agent.h"

#include <stddef.h>

#include "hooks/agent.h"
#include "hooks/guard.h"
#include "hooks/linux/attachment.h"
#include "hooks/linux/start.h"
#include "hooks/modules.h"
#include "hooks/session.h"

extern struct attachment umbra_attachment __attribute__((visibility("default")));
struct attachment umbra_attachment = {0};

static enum { WAITING, BEGINNING, BEGUN, GIVEN_UP } state;

/* All are known before any call is recorded: whether one of them makes code at run time decides
   about calls into the others, too (generated.h). */
static void register_images(void)
{
    const struct attached_image *images = (const struct attached_image *)umbra_attachment.images;
    struct guard guard = guard_take();

    for (uint64_t i = 0; i < umbra_attachment.image_count && session.state == SESSION_RUNNING; i++)
        module_register((struct image_header *)images[i].header);
    guard_release(guard);
}

bool agent_begun(void)
{
    int waiting = WAITING;

    if (state != WAITING || !__atomic_compare_exchange_n((int *)&state, &waiting, BEGINNING, false,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return state == BEGUN;
    if (agent_begin_in((char *const *)umbra_attachment.environment)) {
        register_images();
        state = BEGUN;
    } else {
        state = GIVEN_UP;
    }
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
