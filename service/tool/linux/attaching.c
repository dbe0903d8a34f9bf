#include "service/tool/attaching.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "service/attach/attach.h"
#include "service/attach/linux/attach_samples.h"
#include "service/base/message.h"
#include "service/base/process.h"
#include "service/server/listeners.h"
#include "service/server/serve.h"
#include "service/sessions/session_life.h"
#include "service/tool/linux/attaching_later.h"
#include "service/tool/linux/attaching_overhead.h"
#include "service/tool/linux/following.h"

/* After which no thread is any more in a hook that it entered before the pause, and that makes
 * contexts. */
#define LAST_HOOKS_NS 50000000

enum { EXIT_OK = 0, EXIT_FAILED = 1 };

/* A process that is served, and its end. */
struct watched {
    struct service *service;
    struct event_source gone;
    const struct following *following; /* null: what it executes is not followed */
    struct event_source follower;
};

static void all_is_over(void *owner)
{
    struct watched *watched = owner;

    watched->service->is_stopping = true;
}

/* What it has left goes on being followed. */
static void process_is_gone_now(void *owner)
{
    struct watched *watched = owner;

    event_loop_remove(&watched->service->loop, &watched->gone);
    process_unwatch(watched->gone.fd);
    watched->gone.fd = -1;
    if (!watched->following) {
        all_is_over(watched);
        return;
    }
    following_wait(watched->following);
    watched->follower.fd = process_watch(watched->following->follower);
    watched->follower.ready = all_is_over;
    watched->follower.owner = watched;
    if (watched->follower.fd < 0 || !event_loop_add(&watched->service->loop, &watched->follower))
        all_is_over(watched);
}

static bool watch(struct watched *watched, pid_t pid, struct failure *failure)
{
    watched->gone.fd = process_watch(pid);
    watched->gone.ready = process_is_gone_now;
    watched->gone.owner = watched;
    return (watched->gone.fd >= 0 && event_loop_add(&watched->service->loop, &watched->gone)) ||
           fail_because(failure, "process %d: cannot be watched: %s", (int)pid, strerror(errno));
}

static void unwatch(struct watched *watched)
{
    struct event_source *sources[] = {&watched->gone, &watched->follower};

    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        if (sources[i]->fd < 0)
            continue;
        event_loop_remove(&watched->service->loop, sources[i]);
        process_unwatch(sources[i]->fd);
    }
}

static void say_attached(const struct options *options, const struct attach_counts *counts,
                         const struct service *service)
{
    if (options->is_quiet)
        return;
    message(
        "process %d: %lu functions of %u images are hooked; it stood still for %.1f ms. ^C takes the hooks "
        "out. Traces go to %s",
        (int)options->attached, counts->functions, counts->images, counts->stopped_ms,
        service->recorder.trace_dir.path);
    if (counts->waiting)
        message(
            "process %d: %lu functions are not hooked: a thread was amid their first bytes each time",
            (int)options->attached, counts->waiting);
    if (counts->changed)
        message(
            "process %d: %lu functions are not hooked: their first bytes are not the file's any more",
            (int)options->attached, counts->changed);
}

static void pause_all(const struct service *service, bool is_paused)
{
    struct session *session;

    DL_FOREACH(service->recorder.sessions, session)
    session_pause(session, is_paused);
}

static void detach(const struct options *options, struct service *service,
                   struct attached *attached)
{
    struct session *session, *next;
    struct failure failure;
    enum attach_ended ended;

    session_sweep(&service->recorder, false);
    pause_all(service, true);
    nanosleep(&(struct timespec){.tv_nsec = LAST_HOOKS_NS}, NULL);
    ended = attach_end(attached, &failure);
    if (ended == ATTACH_HOOKED) {
        pause_all(service, false);
        message("process %d: %s: its hooks stay, and it goes on being recorded until it ends",
                (int)options->attached, failure.text);
        return;
    }
    if (ended == ATTACH_STAYS)
        message("process %d: %s: its hooks are out; the agent stays in its memory until it ends",
                (int)options->attached, failure.text);
    session_sweep(&service->recorder, false);
    DL_FOREACH_SAFE(service->recorder.sessions, session, next)
    session_detach(session);
}

/* Of the files by which the grinder knows the functions: beside the traces, and a new one each
 * time. */
static bool find_folder(const struct options *options, const struct service *service,
                        char folder[PATH_MAX])
{
    char *absolute = realpath(service->recorder.trace_dir.path, NULL);
    int length = 0;

    for (unsigned turn = 1; absolute && length < PATH_MAX && (turn == 1 || !access(folder, F_OK));
         turn++)
        length = snprintf(folder, PATH_MAX, turn == 1 ? "%s/images-%d" : "%s/images-%d-%u",
                          absolute, (int)options->attached, turn);
    free(absolute);
    return length > 0 && length < PATH_MAX;
}

/* Until it is told to stop, or the program has ended. */
static void serve(const struct options *options, struct service *service, struct attached *attached,
                  const struct attach_settings *settings)
{
    struct attaching_later later = {.service = service, .attached = attached, .settings = settings};
    struct unhooking unhooking = {.service = service,
                                  .attached = attached,
                                  .pid = options->attached,
                                  .percent = options->overhead};
    struct attaching_overhead overhead = {.unhooking = &unhooking};

    if (attached_listener(attached) >= 0 && !listeners_add(service, attached_listener(attached)))
        message("cannot wait for connections: %s", strerror(errno));
    unhooking_begin(&unhooking);
    attaching_later_begin(&later);
    if (options->overhead > 0)
        attaching_overhead_begin(&overhead);
    serve_run(service);
    attaching_overhead_end(&overhead);
    attaching_later_end(&later);
    unhooking_end(&unhooking);
}

/* following: null: nothing is followed. */
static int run(const struct options *options, const struct following *following)
{
    const struct service_settings settings = {.instance = options->instance,
                                              .recording = &options->recording};
    struct attach_settings attaching = {.pid = options->attached,
                                        .instance = options->instance,
                                        .filters = options->filters,
                                        .is_sampled =
                                            options->recording.timing == TRACE_TIMING_SAMPLES,
                                        .is_quiet = options->is_quiet};
    struct service service;
    struct watched watched = {
        .service = &service, .gone.fd = -1, .following = following, .follower.fd = -1};
    struct attach_counts counts;
    struct attached *attached = NULL;
    struct failure failure;
    char folder[PATH_MAX];

    if (attaching.is_sampled && !attach_samples_can_end()) {
        message(
            "--timing=samples: expected a kernel that tells of timers (CONFIG_CHECKPOINT_RESTORE), "
            "found another; give adaptive, exact or none");
        return EXIT_FAILED;
    }
    if (!serve_open(&service, &settings))
        return EXIT_FAILED;
    if (options->recording.log_file && !message_open_log(options->recording.log_file)) {
        serve_close(&service);
        return EXIT_FAILED;
    }
    attaching.socket_path = service.endpoint.socket_path;
    attaching.folder = folder;
    if (watch(&watched, options->attached, &failure)) {
        if (find_folder(options, &service, folder))
            attached = attach_begin(&attaching, &counts, &failure);
        else
            fail(&failure, service.recorder.trace_dir.path,
                 "its path cannot be found, or is too long; give another --trace-dir");
    }
    if (attached) {
        say_attached(options, &counts, &service);
        serve(options, &service, attached, &attaching);
        detach(options, &service, attached);
    } else {
        message("%s", failure.text);
    }
    unwatch(&watched);
    serve_close(&service);
    if (!attached)
        return EXIT_FAILED;
    attached_free(attached);
    return EXIT_OK;
}

int attaching_run(const struct options *options)
{
    struct following following;
    int status;

    if (!options->follows)
        return run(options, NULL);
    if (!following_begin(&following, options, attaching_run))
        return EXIT_FAILED;
    status = run(options, &following);
    following_end(&following);
    return status;
}
