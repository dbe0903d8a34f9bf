#include "hooks/shadow.h"

#include "hooks/invocation.h"
#include "hooks/session.h"
#include "hooks/system.h"
#include "thunkstash/pages.h"

#define PAGE        4096
#define AT_ONCE     65536        /* bytes of stack */
#define MOST_STACK  (1ull << 30) /* bytes of a stack that can have a shadow: the outermost ones */
#define LIMIT_SHARE 4096         /* likewise, of the process's addresses, if these are limited */

static uint64_t high(const struct thread *thread)
{
    return thread->own_low + thread->own_size;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Address space for the whole stack, which costs nothing yet. */
static bool reserve(struct thread *thread)
{
    uint64_t most = lower(MOST_STACK, system_address_limit() / LIMIT_SHARE);
    uint64_t size = lower(thread->own_size, most);

    size = (size + PAGE - 1) / PAGE * PAGE;
    thread->shadow_pages = pages_reserve(SHADOW_SCALE * size);
    if (!thread->shadow_pages)
        return false;
    thread->shadow_low = thread->shadow_covered = (high(thread) + PAGE - 1) / PAGE * PAGE;
    thread->shadow_low -= size;
    return true;
}

bool shadow_cover(struct thread *thread, uint64_t lowest)
{
    uint64_t base;

    if (thread->shadow && lowest >= thread->shadow_covered)
        return true;
    if (!thread->shadow_pages && !reserve(thread))
        return false;
    if (lowest < thread->shadow_low)
        return false;
    lowest = lowest / PAGE * PAGE;
    lowest = lowest - thread->shadow_low > AT_ONCE ? lowest - AT_ONCE : thread->shadow_low;
    base = (uint64_t)thread->shadow_pages - SHADOW_SCALE * thread->shadow_low;
    if (!pages_commit((void *)(base + SHADOW_SCALE * lowest),
                      SHADOW_SCALE * (thread->shadow_covered - lowest)))
        return false;
    thread->shadow_covered = lowest;
    __atomic_store_n(&thread->shadow, base, __ATOMIC_RELEASE);
    return true;
}

static bool has_ended(const struct shadow_entry *frame)
{
    return (int64_t)frame->ret <= 0;
}

struct shadow_entry *shadow_of_frame(const struct thread *thread, uint64_t slot)
{
    struct shadow_entry *entry;

    if (!shadow_covers(thread, slot))
        return 0;
    entry = shadow_at(thread, slot);
    return !has_ended(entry) && entry->ret == *(const volatile uint64_t *)slot ? entry : 0;
}

static bool is_live(const struct shadow_entry *frame)
{
    return frame && shadow_is_live(frame);
}

/* To one more than what was noted, with the bits in `more` that it may have lost. */
static void count_noted(uint64_t *count, uint64_t noted, uint64_t more)
{
    uint64_t before = ~(noted | more);

    if (*count == before)
        *count = before + 1;
}

/* Of a frame in the chain, whose hook may never go on. */
static void finish_counting(const struct shadow_entry *frame)
{
    if ((int64_t)frame->ret < 0)
        count_noted(&shadow_node(frame)->exits, frame->ret, 0);
    else if (frame->ret && shadow_is_being_counted(frame))
        count_noted(&shadow_node(frame)->calls, frame->time, TRACE_TICK_FLAG);
}

uint64_t shadow_below(const struct shadow_entry *frame)
{
    bool has_weight = session.is_adaptive && shadow_is_timed(frame);

    return has_weight ? (uint64_t)((int64_t)frame->below >> SHADOW_WEIGHT_BITS) : frame->below;
}

uint64_t shadow_weight(const struct shadow_entry *frame)
{
    return session.is_adaptive ? frame->below & ((1u << SHADOW_WEIGHT_BITS) - 1) : 1;
}

static void add_time(struct thread *thread, const struct shadow_entry *frame, uint64_t weight,
                     uint64_t now)
{
    if (shadow_is_being_counted(frame))
        return;
    if (!shadow_is_timed(frame))
        invocation_notice(thread, shadow_node(frame), shadow_tick(frame), now);
    else
        invocation_add_timed(shadow_node(frame), weight, now - frame->time, now);
}

void shadow_end(struct thread *thread, struct shadow_entry *frame, uint64_t now, bool returned)
{
    struct trace_node *node = shadow_node(frame);
    uint64_t exits = node->exits;

    add_time(thread, frame, shadow_weight(frame), now);
    frame->ret = returned ? ~exits : 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (returned)
        node->exits = exits + 1;
    else
        thread->entry->unwound++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* It is parked, if its return address is where it was, and is to be the one that it left behind.
   Above the stack's end: the thread is gone, and its stack with it. */
static void leave(struct thread *thread, struct shadow_entry *frame, uint64_t slot)
{
    bool may_go_on = slot < high(thread) && shadow_of_frame(thread, thread->caller);
    struct shadow_entry was = *frame;

    finish_counting(frame);
    if (has_ended(frame) || shadow_is_parked(frame))
        return;
    shadow_end(thread, frame, thread->now, false);
    if (!may_go_on)
        return;
    frame->below = shadow_below(&was);
    frame->time = TRACE_TICK_FLAG;
    frame->context |= SHADOW_PARKED;
    frame->ret = was.ret;
}

void shadow_revive(struct thread *thread, struct shadow_entry *frame)
{
    for (; frame && shadow_is_parked(frame); frame = shadow_of_frame(thread, frame->below)) {
        frame->context &= ~(uint64_t)SHADOW_PARKED;
        frame->time = session.header->tick;
        thread->entry->unwound--;
    }
}

/*
 * Frames that were left without a return are found here: by longjmp or an exception. Those that lie
 * below the call's slot are gone, and so are those whose return address is not where it was.
 */
struct shadow_entry *shadow_caller(struct thread *thread, uint64_t slot)
{
    uint64_t limit = record_slot(thread->own.top), most = thread->own_size / sizeof limit;

    for (uint64_t i = 0;
         thread->caller < limit && shadow_covers(thread, thread->caller) && i < most; i++) {
        struct shadow_entry *frame = shadow_at(thread, thread->caller);

        if (thread->caller > slot && shadow_of_frame(thread, thread->caller))
            return frame;
        leave(thread, frame, slot);
        thread->caller = shadow_below(frame);
    }
    return 0;
}

struct shadow_entry *shadow_nearest(const struct thread *thread, uint64_t above, uint64_t limit)
{
    uint64_t slot = (above + sizeof slot) & ~(sizeof slot - 1);

    for (; slot < limit && shadow_covers(thread, slot); slot += sizeof slot)
        if (is_live(shadow_of_frame(thread, slot)))
            return shadow_at(thread, slot);
    return 0;
}

void shadow_push(struct thread *thread, uint64_t slot, struct trace_node *node, uint64_t ret,
                 uint64_t weight)
{
    struct shadow_entry *frame = shadow_at(thread, slot);
    bool is_timed = weight || !session.is_adaptive;
    uint64_t noted = ~node->calls;

    frame->time = is_timed ? noted & ~TRACE_TICK_FLAG : noted;
    frame->context = (uint64_t)node;
    frame->below = weight && session.is_adaptive ? thread->caller << SHADOW_WEIGHT_BITS | weight
                                                 : thread->caller;
    frame->ret = ret;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->caller = slot;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    node->calls++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    frame->time = is_timed ? thread->now : session.header->tick;
}

typedef void frame_visitor(struct thread *thread, struct shadow_entry *frame, uint64_t now);

static uint64_t visit_chain(struct thread *thread, frame_visitor *settle, uint64_t now)
{
    uint64_t found = 0, most = thread->own_size / sizeof(uint64_t), slot = thread->caller;

    if (slot == NO_CALLER)
        slot = thread->caller_at_cut;
    for (uint64_t i = 0; shadow_covers(thread, slot) && i < most; i++) {
        struct shadow_entry *frame = shadow_at(thread, slot);

        finish_counting(frame);
        if (is_live(frame)) {
            found++;
            settle(thread, frame, now);
        }
        slot = shadow_below(frame);
    }
    return found;
}

static uint64_t visit_all(struct thread *thread, frame_visitor *settle, uint64_t now)
{
    uint64_t found = 0;

    for (uint64_t slot = thread->peak.lowest & ~7ull; slot < high(thread); slot += sizeof slot) {
        struct shadow_entry *frame = shadow_of_frame(thread, slot);

        if (is_live(frame)) {
            found++;
            settle(thread, frame, now);
        }
    }
    return found;
}

/* Where stacks lie within the own one, frames that are live may be in no chain. */
static uint64_t visit(struct thread *thread, frame_visitor *settle, uint64_t now)
{
    if (!thread->shadow)
        return 0;
    return thread->own.ordered ? visit_chain(thread, settle, now) : visit_all(thread, settle, now);
}

static void pass(struct thread *thread, struct shadow_entry *frame, uint64_t now)
{
    (void)thread, (void)frame, (void)now;
}

uint64_t shadow_count(struct thread *thread)
{
    return visit(thread, pass, 0);
}

/* What is live stands for itself. */
static void settle(struct thread *thread, struct shadow_entry *frame, uint64_t now)
{
    add_time(thread, frame, 1, now);
}

uint64_t shadow_settle(struct thread *thread, uint64_t now)
{
    return visit(thread, settle, now);
}

void shadow_cut(struct thread *thread)
{
    uint64_t caller = __atomic_exchange_n(&thread->caller, NO_CALLER, __ATOMIC_SEQ_CST);

    if (caller != NO_CALLER)
        thread->caller_at_cut = caller;
}

void shadow_release(struct thread *thread)
{
    uint64_t end = (high(thread) + PAGE - 1) / PAGE * PAGE;

    if (thread->shadow_pages)
        pages_give_back(thread->shadow_pages, SHADOW_SCALE * (end - thread->shadow_low));
    thread->shadow = 0;
    thread->shadow_pages = 0;
}
