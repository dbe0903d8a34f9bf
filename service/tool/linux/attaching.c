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
#include "service/base/message.h"
#include "service/base/process.h"
#include "service/server/serve.h"
#include "service/sessions/session_life.h"
#include "service/tool/linux/attaching_later.h"
#include "service/tool/linux/attaching_overhead.h"

/* After which no thread is any more in a hook that it entered before the pause, and that makes
 * contexts. */
#define LAST_HOOKS_NS 50000000

enum { EXIT_OK = 0, EXIT_FAILED = 1 };

static void process_is_gone_now(void *owner)
{
    struct service *service = owner;

    service->is_stopping = true;
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

    unhooking_begin(&unhooking);
    attaching_later_begin(&later);
    if (options->overhead > 0)
        attaching_overhead_begin(&overhead);
    serve_run(service);
    attaching_overhead_end(&overhead);
    attaching_later_end(&later);
    unhooking_end(&unhooking);
}

int attaching_run(const struct options *options)
{
    const struct service_settings settings = {.instance = options->instance,
                                              .recording = &options->recording};
    struct attach_settings attaching = {.pid = options->attached,
                                        .instance = options->instance,
                                        .filters = options->filters,
                                        .is_quiet = options->is_quiet};
    struct service service;
    struct event_source gone = {.fd = -1};
    struct attach_counts counts;
    struct attached *attached = NULL;
    struct failure failure;
    char folder[PATH_MAX];

    if (!serve_open(&service, &settings))
        return EXIT_FAILED;
    if (options->recording.log_file && !message_open_log(options->recording.log_file)) {
        serve_close(&service);
        return EXIT_FAILED;
    }
    attaching.socket_path = service.endpoint.socket_path;
    attaching.folder = folder;
    gone.fd = process_watch(options->attached);
    if (gone.fd < 0 || !service_watch(&service, &gone, gone.fd, process_is_gone_now))
        fail_because(&failure, "process %d: cannot be watched: %s", (int)options->attached,
                     strerror(errno));
    else if (!find_folder(options, &service, folder))
        fail(&failure, service.recorder.trace_dir.path,
             "its path cannot be found, or is too long; give another --trace-dir");
    else
        attached = attach_begin(&attaching, &counts, &failure);
    if (attached) {
        say_attached(options, &counts, &service);
        serve(options, &service, attached, &attaching);
        detach(options, &service, attached);
        attached_free(attached);
    } else {
        message("%s", failure.text);
    }
    if (gone.fd >= 0)
        event_loop_remove(&service.loop, &gone);
    process_unwatch(gone.fd);
    serve_close(&service);
    return attached ? EXIT_OK : EXIT_FAILED;
}
