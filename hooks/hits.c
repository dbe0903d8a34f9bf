#include "hooks/hits.h"

#include "hooks/session.h"
#include "hooks/ticks.h"

#define KEPT_AT_A_RATE 65536u
#define MOST_HALVINGS  10u

static uint32_t apart(const struct thread *thread)
{
    uint32_t halvings = thread->hits.records.count / KEPT_AT_A_RATE;

    return 1u << (halvings < MOST_HALVINGS ? halvings : MOST_HALVINGS);
}

void hits_add(struct thread *thread, const struct trace_node *node, uint64_t instruction,
              uint64_t ns)
{
    struct trace_hit *hit;

    thread->hits.owed += ns;
    if (++thread->hits.left_out < apart(thread))
        return;
    hit = trace_list_next(thread->entry->ordinal, &thread->hits.records, TRACE_BLOCK_HITS,
                          sizeof(*hit));
    if (!hit)
        return;
    hit->instruction = instruction;
    hit->node = trace_index(node);
    hit->ns = thread->hits.owed < UINT32_MAX ? (uint32_t)thread->hits.owed : UINT32_MAX;
    __atomic_store_n(&hit->ticks, ticks_now() & ~TRACE_TICK_FLAG, __ATOMIC_RELEASE);
    thread->hits.records.count++;
    thread->hits.left_out = 0;
    thread->hits.owed = 0;
}
