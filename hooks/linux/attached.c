/* The agent in a process that ran already: trace/attached_agent.h. In place of embedded.c. */
#include "trace/attached_agent.h"

#include <stddef.h>

#include "hooks/agent.h"
#include "hooks/guard.h"
#include "hooks/linux/attachment.h"
#include "hooks/linux/start.h"
#include "hooks/modules.h"
#include "hooks/session.h"
#include "thunkstash/linux/own_memory.h"
#include "thunkstash/stash.h"

extern char umbra_stash[] __attribute__((visibility("hidden")));
extern const char umbra_thunk_code[] __attribute__((visibility("hidden")));

extern struct attachment umbra_attachment __attribute__((visibility("default")));
struct attachment umbra_attachment = {0};

extern struct attached_memory umbra_memory __attribute__((visibility("default")));
struct attached_memory umbra_memory = {
    .areas = (uint64_t)own_memory_areas,
    .area_count = OWN_MEMORY_MOST,
    .stash = (uint64_t)umbra_stash,
    .stash_size = STASH_RANGE_SIZE,
    .thunks = (uint64_t)umbra_thunk_code,
    .thunks_size = BLOCK_CODE_SIZE,
};

_Static_assert(ATTACHED_AREA_SIZE_BITS == OWN_MEMORY_SIZE_BITS &&
                   ATTACHED_BLOCK_SIZE == BLOCK_SIZE && ATTACHED_THUNK_RETURN == THUNK_RETURN &&
                   SLOT_PARKED == 0 && SLOT_BIAS == 0 && RECORD_DISTANCE == BLOCK_SIZE / 2,
               "trace/attached_agent.h says where records and areas are");
_Static_assert(sizeof(struct attached_record) == sizeof(struct record) &&
                   offsetof(struct attached_record, ret) == offsetof(struct record, ret) &&
                   offsetof(struct attached_record, slot) == offsetof(struct record, slot) &&
                   offsetof(struct attached_record, parked) == offsetof(struct record, parked),
               "and how a record looks");

static enum { WAITING, BEGINNING, BEGUN, GIVEN_UP } state;

/* All are known before any call is recorded: whether one of them makes code at run time decides
   about calls into the others, too (generated.h). */
static void register_images(void)
{
    const struct attached_image *images = (const struct attached_image *)umbra_attachment.images;
    struct guard guard = guard_take();

    for (uint64_t i = 0; i < umbra_attachment.image_count && session.state == SESSION_RUNNING; i++)
        if (images[i].header)
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

    for (uint64_t i = umbra_attachment.image_count; i-- > 0;) /* there may have been another */
        if (images[i].base == base)
            return (const char *)images[i].path;
    return NULL;
}

/* Listed, as the program's mlockall is to leave them alone as well. */
void *attachment_thunks(void)
{
    void *thunks = (void *)umbra_attachment.thunks;

    if (thunks)
        own_memory_add(thunks, BLOCK_CODE_SIZE);
    return thunks;
}

const char *attachment_socket(void)
{
    return (const char *)umbra_attachment.socket;
}
