#include "hooks/thread.h"

#include "hooks/cover.h"
#include "hooks/events.h"
#include "hooks/frames.h"
#include "hooks/further_targets.h"
#include "hooks/guard.h"
#include "hooks/hook_word.h"
#include "hooks/invocation.h"
#include "hooks/memory.h"
#include "hooks/modules.h"
#include "hooks/sampler.h"
#include "hooks/session.h"
#include "hooks/stack.h"
#include "hooks/system.h"
#include "hooks/times.h"
#include "hooks/tree.h"
#include "hooks/waits.h"
#include "thunkstash/pages.h"

#define LOOKS_FOR_SIGNAL 256 /* slow paths that look each time */

/* Stand in while a thread's state is made, and while the agent calls the program's libraries:
 * always busy. */
static struct thread in_the_making = {.begun = UINT32_MAX, .busy = 1, .busy_slot = UINT64_MAX};
static struct thread passing_calls = {.begun = UINT32_MAX, .busy = 1, .busy_slot = UINT64_MAX};

static struct thread *threads; /* of this process; under the guard */
static uint32_t begun_since_sweep, live_at_sweep;

static void unwind_below(struct thread *thread, uint64_t stack_pointer, uint64_t now)
{
    invocations_unwind(thread, stack_pointer, stack_pointer == UINT64_MAX ? STACK_IS_GONE : 0, now);
    invocations_unwind_overwritten(thread, now);
}

static void count_live(struct record *record, void *with)
{
    *(uint64_t *)with += record_is_live(record);
}

/* Whether calls live on a stack that is not known to be the thread's own. */
static bool has_live_elsewhere(struct thread *thread)
{
    uint64_t live = 0;

    if (thread->other_begun)
        stash_each(&thread->other, count_live, &live);
    return live != 0;
}

/*
 * Frames above the stack pointer are those of a C library that is instrumented itself: its
 * start_thread, which never returns, and what it calls to end the thread. These have still to
 * return, and others may be called. So the thread goes on recording, and whoever finds it gone ends
 * it. When it ended is noted: that may be long before.
 */
void thread_notice_end(struct thread *thread, uint64_t stack_pointer)
{
    uint64_t ticks = ticks_now();

    if (thread->begun != session.number || session.state != SESSION_RUNNING || thread->busy)
        return;
    sampler_settle(thread);
    thread_suspend(thread, stack_pointer, session.counts_only ? session_ticks() : ticks);
    if (thread->own.top)
        unwind_below(thread, stack_pointer, thread->now);
    if ((!thread->own.top || record_is_sentinel(thread->own.top)) && !has_live_elsewhere(thread)) {
        thread_end(thread, stack_pointer, TRACE_THREAD_ENDED);
    } else {
        thread->entry->end_ticks = ticks;
        system_thread_name(thread->tid, thread->entry->name, sizeof(thread->entry->name));
    }
    thread_publish(thread);
}

void threads_prepare(void)
{
    thread_ends_prepare(thread_notice_end);
    cover_prepare();
}

void thread_suspend(struct thread *thread, uint64_t slot, uint64_t ticks)
{
    /* A handler on this thread has to see these in order: a barrier for the compiler is enough. */
    thread->busy_slot = slot;
    thread->busy_frame = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->stack_size = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (thread->top && thread->own.ordered)
        thread->own.top = thread->top;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->top = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if ((int64_t)(ticks - (thread->stopped + thread->now)) <
        0) /* read before a handler's slow path */
        ticks = session_ticks();
    thread->now = ticks - thread->stopped;
    thread->readable = 0;
    if (thread->own.top)
        stash_settle(&thread->own);
    invocation_finish_revival(thread);
}

void thread_publish(struct thread *thread)
{
    thread->stopped = session_ticks() - thread->now;
    if (session.state == SESSION_RUNNING && thread->own.top) {
        thread->stack_low = thread->peak.lowest;
        __atomic_store_n(&thread->top, thread->own.top, __ATOMIC_RELEASE);
        __atomic_store_n(&thread->stack_size,
                         thread->own_low + thread->own_size - thread->stack_low, __ATOMIC_RELEASE);
        if (__atomic_load_n(&session.state, __ATOMIC_ACQUIRE) != SESSION_RUNNING)
            thread->stack_size = 0; /* was cut meanwhile */
    }
    __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
}

/* The time of the last that it did, as far as that is known. */
static uint64_t time_of_last(const struct thread *thread)
{
    const struct record *top = thread->own.top;

    return top && record_is_live(top) && (int64_t)(top->t0 - thread->now) > 0 &&
                   !(top->t0 & TRACE_TICK_FLAG)
               ? top->t0
               : thread->now;
}

/*
 * Calls that are live when a thread is found gone took as long as what they called: they may have
 * ended long before. So did one that was noticed to end, with what it has called since.
 */
void thread_end(struct thread *thread, uint64_t stack_pointer, enum trace_thread_state state)
{
    bool is_gone = stack_pointer == UINT64_MAX, was_noticed = thread->entry->end_ticks;
    uint64_t now = session_ticks() - thread->stopped, end = now;

    if (thread->top && thread->own.ordered && stack_pointer) /* it is gone */
        thread->own.top = thread->top;
    if ((is_gone || was_noticed) && !session.counts_only)
        end = time_of_last(thread);
    if (thread->own.top && stack_pointer)
        unwind_below(thread, stack_pointer, end);
    invocations_collect(thread, end, false);
    thread->entry->live = invocations_settle(thread, end);
    if (!session.counts_only)
        thread->entry->end_ticks = (was_noticed ? end : now) + thread->stopped;
    else if (!was_noticed)
        thread->entry->end_ticks = ticks_now();
    system_thread_name(thread->tid, thread->entry->name, sizeof(thread->entry->name));
    if (state == TRACE_THREAD_ENDED) /* a thread that was cut off may still write events */
        events_finish(thread);
    __atomic_store_n(&thread->entry->state, state, __ATOMIC_RELEASE);
}

static bool is_gone(const struct thread *thread, uint32_t own_tid)
{
    return thread->tid == own_tid || system_thread_is_gone(thread->tid);
}

/*
 * Gives back what a thread that is gone held. Coroutines that it began may live on and return on
 * other threads: then the records of foreign stacks, and the state that they name as their owner,
 * stay for good. True: the state can be used again.
 */
static bool thread_give_back(struct thread *thread)
{
    bool is_live;

    sampler_end(thread);
    if (thread->begun == session.number && thread->entry->state == TRACE_THREAD_RUNNING)
        thread_end(thread, UINT64_MAX, TRACE_THREAD_ENDED);
    stash_release(&thread->own);
    frames_release(thread);
    waits_release(thread);
    times_release(thread);
    further_targets_release(thread);
    is_live = has_live_elsewhere(thread);
    if (thread->other_begun && !is_live)
        stash_release(&thread->other);
    pages_give_back(thread->table, thread->table_room * sizeof(*thread->table));
    thread_slot_release(thread);
    return !is_live;
}

void thread_leave(struct thread *thread)
{
    struct guard guard;
    struct thread **link = &threads;

    thread_set_current(NULL);
    guard = guard_take();
    while (*link && *link != thread)
        link = &(*link)->next;
    if (*link) {
        *link = thread->next;
        if (thread_give_back(thread))
            pages_give_back(thread, sizeof(*thread));
    }
    guard_release(guard);
}

/* Pages for a new thread's state: one that a thread that is gone has left, or a fresh one. */
static struct thread *state_for_new_thread(uint32_t tid)
{
    struct thread **link, *found = NULL;
    uint32_t live = 0;

    if (begun_since_sweep++ > live_at_sweep) {
        for (link = &threads; *link;) {
            struct thread *thread = *link;

            if (!is_gone(thread, tid)) {
                live++;
                link = &thread->next;
                continue;
            }
            *link = thread->next;
            if (!thread_give_back(thread))
                continue;
            if (found)
                pages_give_back(found, sizeof(*found));
            found = thread;
        }
        begun_since_sweep = 0;
        live_at_sweep = live;
    }
    if (!found)
        return pages_take_wiped_on_fork(sizeof(*found));
    memset(found, 0, sizeof(*found));
    return found;
}

static bool thread_set_up(struct thread *thread, uint32_t tid)
{
    uint64_t here = (uintptr_t)__builtin_frame_address(0);
    struct stack_bounds bounds = system_own_stack(here);
    uint32_t ordinal = __atomic_add_fetch(&session.header->thread_count, 1, __ATOMIC_RELAXED);

    if (!tree_begin(thread, ordinal))
        return false;
    thread->tid = tid;
    thread->own_low = bounds.low;
    thread->own_size = bounds.size;
    stack_begin(thread);
    frames_begin(thread);
    thread->entry->tid = tid;
    thread->entry->start_ticks = ticks_now();
    thread->entry->state = TRACE_THREAD_RUNNING;
    system_thread_name(tid, thread->entry->name, sizeof(thread->entry->name));
    stash_begin(&thread->own, true, session.number, thread->root);
    events_begin(thread);
    thread->begun = session.number;
    thread->next = threads;
    threads = thread;
    return true;
}

struct thread *thread_begin(void)
{
    uint32_t tid = system_thread_id();
    struct thread *thread;
    bool is_in_lane;
    struct guard guard;

    if (!tid)
        return NULL; /* threads could not be told apart */
    guard = guard_hold_signals();
    thread = thread_current();
    if (thread && thread->begun) { /* a handler came before, and its hooks */
        guard_let_signals(guard);
        return thread;
    }
    thread_set_current(&in_the_making); /* where signals cannot be held, their hooks pass */
    guard_take_holding();
    if (session.state == SESSION_RUNNING && guard_forked()) {
        guard_adopt();
        threads = NULL;
        session_begin_in_child();
        modules_rewrite();
        hook_words_begin_in_child();
        if (session.state == SESSION_RUNNING)
            cover_begin_in_child();
    }
    if (session.state == SESSION_RUNNING && !thread)
        thread = state_for_new_thread(tid);
    if (session.state != SESSION_RUNNING || !thread || !thread_set_up(thread, tid))
        thread = NULL;
    is_in_lane = cover_take_lane();
    guard_release(guard);
    if (thread) {
        thread_set_current(&passing_calls);
        thread_end_watch(thread);
        if (is_in_lane)
            lane_end_watch();
    }
    thread_set_current(thread);
    if (thread)
        sampler_begin(thread);
    return thread;
}

bool thread_is_in_the_making(const struct thread *thread)
{
    return thread == &in_the_making;
}

void thread_take_samples(struct thread *thread)
{
    thread->sampler_waits++;
    if (thread->sampler_waits < LOOKS_FOR_SIGNAL ||
        !(thread->sampler_waits & (thread->sampler_waits - 1)))
        sampler_begin(thread);
}

struct thread *thread_pass_calls(void)
{
    struct thread *thread = thread_current();

    thread_set_current(&passing_calls);
    return thread;
}

void thread_begin_in_child(void)
{
    if (session.state == SESSION_RUNNING && guard_forked())
        thread_begin();
}

#define YIELDS_BEFORE_CUT 4
#define MOST_YIELDS       64 /* while others are in slow paths, or seem to be: is_abandoned */

/* Stops all other threads' counting: calls come to the slow path, which passes them since the
   session is over, and returns are not counted. To be called repeatedly: a thread that is just
   leaving a slow path puts its fields back. Returns whether any thread is in one. */
static bool stop_counting(const struct thread *self)
{
    bool is_busy = false;

    for (struct thread *thread = threads; thread; thread = thread->next) {
        if (thread == self)
            continue;
        __atomic_store_n(&thread->stack_size, 0, __ATOMIC_SEQ_CST);
        system_stop_exits(&thread->own);
        if (thread->other_begun)
            system_stop_exits(&thread->other);
        is_busy |= __atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE) != 0;
    }
    return is_busy;
}

void threads_each(void (*visit)(struct thread *thread))
{
    struct guard guard = guard_take();

    for (struct thread *thread = threads; thread; thread = thread->next)
        visit(thread);
    guard_release(guard);
}

/*
 * A thread may have been stopped between the steps of a hook, and may go on or not before the
 * process is gone. What the steps that it took have begun to count is counted; a thread that goes
 * on stores the same numbers. One that was stopped before its first count, and goes on, is off by
 * one.
 */
void threads_cut(struct thread *self)
{
    bool all_live = system_exit_ends_threads(), is_busy = stop_counting(self);

    for (int i = 0; i < (is_busy ? MOST_YIELDS : YIELDS_BEFORE_CUT) && threads && threads->next;
         i++) {
        system_yield();
        is_busy = stop_counting(self);
    }
    for (struct thread *thread = threads; thread; thread = thread->next) {
        bool is_over = !all_live && is_gone(thread, 0);
        struct record *top = __atomic_load_n(&thread->top, __ATOMIC_ACQUIRE);

        if (thread == self || thread->entry->state != TRACE_THREAD_RUNNING)
            continue;
        if (top && !is_over)
            invocation_finish_count(top);
        thread_end(thread, is_over ? UINT64_MAX : 0, TRACE_THREAD_CUT);
    }
}

void threads_recount(void)
{
    for (struct thread *thread = threads; thread; thread = thread->next) {
        struct record *top = __atomic_load_n(&thread->top, __ATOMIC_ACQUIRE);
        uint64_t live = 0;

        if (thread->entry->state != TRACE_THREAD_CUT)
            continue;
        if (top)
            invocation_finish_count(top);
        stash_each(&thread->own, count_live, &live);
        if (thread->other_begun)
            stash_each(&thread->other, count_live, &live);
        thread->entry->live = live;
    }
}
