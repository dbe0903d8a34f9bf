#include "service/tool/linux/attaching_later.h"

#include "service/base/message.h"

#define LOOK_MS     500
#define COST_FACTOR 100 /* the time a look took in vain, until the next one */

static void say(const struct attaching_later *later, const struct attach_counts *counts)
{
    if (counts->images && !later->settings->is_quiet)
        message(
            "process %d: %lu functions of %u image%s loaded since are hooked; it stood still for %.1f ms",
            (int)later->settings->pid, counts->functions, counts->images,
            counts->images == 1 ? "" : "s", counts->stopped_ms);
}

static void look(void *owner)
{
    struct attaching_later *later = owner;
    int64_t begun = event_loop_now(), pause;
    struct attach_counts counts;
    struct failure failure;

    if (!attach_later(later->attached, later->settings, &counts, &failure)) {
        message("process %d: %s: its hooks go", (int)later->settings->pid, failure.text);
        later->service->is_stopping = true;
        return;
    }
    say(later, &counts);
    pause = counts.images ? 0 : (event_loop_now() - begun) * COST_FACTOR;
    event_timer_set(&later->service->loop, &later->timer, pause > LOOK_MS ? pause : LOOK_MS);
}

void attaching_later_begin(struct attaching_later *later)
{
    later->timer = (struct event_timer){.due = look, .owner = later};
    event_timer_set(&later->service->loop, &later->timer, LOOK_MS);
}

void attaching_later_end(struct attaching_later *later)
{
    event_timer_clear(&later->service->loop, &later->timer);
}
