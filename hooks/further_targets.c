#include "hooks/further_targets.h"

#include "hooks/frames.h"
#include "thunkstash/pages.h"

#define FIRST_ROOM 128u   /* entries: with the one behind the last, a page and a bit */
#define MOST_ROOM  65536u /* 2 MB */
#define MOST       32768u /* targets a thread may have */
#define LOAD       4      /* entries for each that is used, at least */

/* In front of the entries; one more than `room` is behind it, for what has the last one as its
 * home. */
struct further_table {
    struct further_table *before; /* smaller */
    uint64_t room;
    uint64_t reserved[2];
    struct further_target entries[];
};

static uint64_t bytes_of(uint64_t room)
{
    return sizeof(struct further_table) + (room + 1) * sizeof(struct further_target);
}

static struct further_target *home_of(const struct further_table *table, uint64_t site,
                                      uint64_t target)
{
    uint64_t mask = (table->room - 1) * sizeof(struct further_target);
    uint64_t at = (target * (uint64_t)(int64_t)(int32_t)FURTHER_HASH + site) & mask;

    return (struct further_target *)((char *)table->entries + at);
}

struct trace_link *further_target_find(const struct thread *thread,
                                       const struct pointer_links *site, uint64_t target)
{
    const struct further_target *at;

    if (!thread->further.table)
        return NULL;
    at = home_of(thread->further.table, (uintptr_t)site, target);
    for (int i = 0; i < FURTHER_PLACES; i++)
        if (at[i].site == (uintptr_t)site && at[i].target == target)
            return at[i].link;
    return NULL;
}

bool further_target_has_room(const struct thread *thread)
{
    return thread->further.count < MOST;
}

static bool put(const struct further_table *table, const struct further_target *further)
{
    struct further_target *at = home_of(table, further->site, further->target);

    for (int i = 0; i < FURTHER_PLACES; i++) {
        if (at[i].site)
            continue;
        at[i].target = further->target;
        at[i].link = further->link;
        at[i].go = further->go;
        __atomic_store_n(&at[i].site, further->site, __ATOMIC_RELEASE);
        return true;
    }
    return false;
}

/* Sites look into it from here on. The mask is that of the smaller one in between, which fits the
   larger one, too. */
static void use(struct thread *thread, struct further_table *table)
{
    thread->further.table = table;
    if (!thread->frames)
        return;
    __atomic_store_n(&thread->frames->further, (uintptr_t)table->entries, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->frames->further_mask,
                     (uint32_t)((table->room - 1) * sizeof(struct further_target)),
                     __ATOMIC_RELEASE);
}

/* A larger table, with what is in the one before and finds a place. */
static bool grow(struct thread *thread)
{
    struct further_table *old = thread->further.table, *table;
    uint64_t room = old ? 2 * old->room : FIRST_ROOM;

    if (room > MOST_ROOM)
        return false;
    table = pages_take(bytes_of(room));
    if (!table)
        return false;
    table->before = old;
    table->room = room;
    for (uint64_t i = 0; old && i <= old->room; i++)
        if (old->entries[i].site)
            put(table, &old->entries[i]);
    use(thread, table);
    return true;
}

void further_target_add(struct thread *thread, const struct further_target *further)
{
    const struct further_table *table = thread->further.table;

    thread->further.count++;
    if ((!table || table->room < (uint64_t)LOAD * thread->further.count) && !grow(thread) && !table)
        return;
    while (!put(thread->further.table, further) && grow(thread))
        ;
}

void further_targets_release(struct thread *thread)
{
    struct further_table *table = thread->further.table, *before;

    for (; table; table = before) {
        before = table->before;
        pages_give_back(table, bytes_of(table->room));
    }
    thread->further.table = NULL;
    thread->further.count = 0;
}
