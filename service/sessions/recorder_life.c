#include "service/sessions/recorder_life.h"

#include "service/base/message.h"
#include "service/events/call_trace.h"
#include "service/keeper/keeper.h"
#include "service/sampling/samples.h"
#include "service/sessions/session_life.h"
#include "service/traces/part_file.h"

void recorder_init(struct recorder *recorder, const struct recorder_settings *settings,
                   struct event_loop *loop)
{
    *recorder = (struct recorder){
        .settings = settings,
        .loop = loop,
        .is_paused = settings->is_paused,
        .trace_dir.fd = -1,
    };
    if (!tick_clock_open(&recorder->clock))
        message("this processor's tick counter does not run at a constant rate: times are rough");
}

bool recorder_open(struct recorder *recorder)
{
    return trace_dir_open(&recorder->trace_dir, recorder->settings->trace_dir);
}

void recorder_begin(struct recorder *recorder, const char *socket_path)
{
    part_file_clean(recorder->trace_dir.fd);
    recorder->keeper = keeper_open(recorder, socket_path);
    session_adopt_all(recorder, socket_path);
    samples_open(recorder);
}

unsigned recorder_end(struct recorder *recorder, bool wait_for_all)
{
    unsigned left;

    session_settle(recorder, wait_for_all);
    left = recorder->running;
    session_sweep(recorder, true);
    return left;
}

void recorder_close(struct recorder *recorder)
{
    event_timer_clear(recorder->loop, &recorder->tick_timer);
    event_timer_clear(recorder->loop, &recorder->sweep_timer);
    event_timer_clear(recorder->loop, &recorder->signals_timer);
    keeper_close(recorder->keeper);
    call_trace_close(recorder);
    samples_close(recorder);
    ended_list_free(&recorder->ended_list);
    trace_dir_close(&recorder->trace_dir);
    session_free_adopted(recorder);
}
