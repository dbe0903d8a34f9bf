#include "hooks/agent_life.h"

#include "hooks/calibrate.h"
#include "hooks/frames.h"
#include "hooks/guard.h"
#include "hooks/modules.h"
#include "hooks/sampler.h"
#include "hooks/session.h"
#include "hooks/system.h"
#include "hooks/thread.h"
#include "thunkstash/stash.h"

/* The stash comes first: the session tells the trace where it is, and without it there is none. */
bool agent_life_begin(char *const *environment, char *range, void *thunks)
{
    struct guard guard = guard_take();

    if (stash_prepare(range, thunks) && session_begin(environment, 0))
        modules_scan();
    guard_release(guard);
    if (session.state != SESSION_RUNNING)
        return false;
    threads_prepare();
    calibrate();
    return true;
}

void agent_life_end(void)
{
    struct thread *self = thread_current();
    uint64_t here = (uintptr_t)__builtin_frame_address(0);
    struct guard guard;

    if (session.state != SESSION_RUNNING || guard_forked())
        return;
    guard = guard_take();
    modules_scan();
    if (self)
        sampler_settle(self);
    session_leave(SESSION_CLOSED);
    threads_cut(self);
    if (self && self->begun == session.number) {
        frames_stop();
        thread_suspend(self, here, session_ticks());
        thread_end(self, here, TRACE_THREAD_ENDED);
        thread_publish(self);
    }
    calibrate_again();
    threads_recount();
    session_end();
    guard_release(guard);
}

void agent_life_leave(void)
{
    struct thread *self = thread_current();

    if (session.state != SESSION_RUNNING || guard_forked())
        return;
    agent_life_end();
    if (!self || !self->begun)
        return;
    system_stop_exits(&self->own);
    if (self->other_begun)
        system_stop_exits(&self->other);
}
