/* Hands trace files to instrumented programs and completes them: see service/server/service.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "service/base/message.h"
#include "service/base/process.h"
#include "service/launch/command.h"
#include "service/server/daemon.h"
#include "service/server/serve.h"
#include "service/stacks/stacks.h"
#include "service/tool/attaching.h"
#include "service/tool/choose.h"
#include "service/tool/control.h"
#include "service/tool/hooking.h"
#include "service/tool/options.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static struct service_settings settings_of(const struct options *options)
{
    return (struct service_settings){
        .instance = options->instance,
        .command = options->command,
        .is_daemon = options->verb == VERB_SPAWN,
        .recording = &options->recording,
    };
}

/* Late: that the instance is served already is said where people look. */
static bool open_log(const struct options *options, struct service *service)
{
    if (!options->recording.log_file || message_open_log(options->recording.log_file))
        return true;
    serve_close(service);
    return false;
}

static void say_ready(const struct options *options, const struct service *service)
{
    if (!options->is_quiet)
        message("instance %s is ready; traces go to %s", options->instance,
                service->recorder.trace_dir.path);
}

/* Asked where nothing came to be recorded. */
static void say_none_came(const struct service *service, const char *command)
{
    switch (service->command_kind) {
    case COMMAND_INSTRUMENTED:
        message(
            "%s: instrumented, but it did not come to be recorded: programs of another user, with "
            "more rights than their user, or that may open no socket do not",
            command);
        break;
    case COMMAND_NOT_INSTRUMENTED:
        message("%s: expected a program to record, found none: it is not instrumented itself; was "
                "what it started?",
                command);
        break;
    case COMMAND_IS_SCRIPT:
        message(
            "%s: expected a program to record, found none: was any that it started instrumented?",
            command);
        break;
    case COMMAND_UNKNOWN:
        message("%s: expected a program to record, found none: was it instrumented?", command);
    }
}

/* Returns the exit status. */
static int serve(const struct options *options, struct service *service)
{
    int status;

    if (!serve_run_command(service))
        return service->exit_status;
    status = serve_run(service);
    if (options->command && !options->is_quiet && !service->recorder.last_session &&
        !service->refused && !service->left_running.has_strangers)
        say_none_came(service, options->command[0]);
    return status;
}

/* Daemons that the command left are recorded by the next service of the instance, which takes them
   over from the keeper. Returns true in that one, when it has ended. */
static bool go_on_for_daemons(const struct options *options, int listener)
{
    struct service_settings settings = settings_of(options);
    struct service service;
    int caller = daemon_begin_beside(&listener);

    settings.command = NULL;
    settings.listener = listener;
    settings.is_daemon = settings.ends_when_idle = true;
    if (caller >= 0) {
        if (serve_open(&service, &settings) && open_log(options, &service)) {
            daemon_ready(caller);
            serve_run(&service);
            serve_close(&service);
        }
        return true;
    }
    if (caller == -2)
        message("instance %s records them in the background until they end; to stop that: "
                "call_trace_service stop --instance-id=%s",
                options->instance, options->instance);
    return false;
}

static int record_stacks(const struct options *options)
{
    const struct stacks_settings settings = {
        .command = options->command,
        .pid = (pid_t)options->pid,
        .trace_dir = options->recording.trace_dir,
        .samples = options->recording.samples,
        .is_verbose = options->recording.is_verbose,
    };

    return stacks_record(&settings);
}

static int start(const struct options *options)
{
    const struct service_settings settings = settings_of(options);
    struct service service;
    int listener, status;

    if (options->is_of_stacks)
        return record_stacks(options);
    if (options->command && options->linux_only && command_is_for_windows(options->command)) {
        message("%s: %s", options->command[0], options->linux_only);
        return EXIT_USAGE;
    }
    if (!serve_open(&service, &settings) || !open_log(options, &service))
        return EXIT_FAILED;
    if (!options->command)
        say_ready(options, &service);
    status = serve(options, &service);
    if (!service.left_running.has_daemons) {
        serve_close(&service);
        return status;
    }
    listener = endpoint_hand_on(&service.endpoint);
    serve_close(&service);
    return go_on_for_daemons(options, listener) ? EXIT_OK : status;
}

static int spawn(const struct options *options)
{
    const struct service_settings settings = settings_of(options);
    struct service service;
    int caller = daemon_begin();
    int status;

    if (caller < 0 || !serve_open(&service, &settings) || !open_log(options, &service))
        return EXIT_FAILED;
    if (options->recording.log_file)
        say_ready(options, &service);
    daemon_ready(caller);
    status = serve_run(&service);
    serve_close(&service);
    return status;
}

static int run(const struct options *options)
{
    switch (options->verb) {
    case VERB_NONE:
        return EXIT_OK;
    case VERB_START:
        return start(options);
    case VERB_SPAWN:
        return spawn(options);
    case VERB_ATTACH:
        return attaching_run(options);
    case VERB_DETACH:
        return control_detach(options);
    case VERB_HOOK:
    case VERB_UNHOOK:
        return hooking_run(options);
    case VERB_STOP:
        return control_stop(options);
    case VERB_STATUS:
        return control_status(options);
    case VERB_LIST:
        return control_list(options);
    case VERB_PAUSE:
    case VERB_RESUME:
        return control_pause(options);
    case VERB_TOP:
        return choose_top(options);
    case VERB_SNAPSHOT:
        return choose_snapshot(options);
    }
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct options options;
    int status;

    message_name(argv[0]);
    process_begin(&argc, &argv);
    if (!options_parse(&options, argc, argv))
        return EXIT_USAGE;
    status = run(&options);
    errno = 0;
    if (fflush(stdout) || ferror(stdout)) {
        message("standard output: cannot write: %s",
                errno ? strerror(errno) : "an earlier write failed");
        return EXIT_FAILED;
    }
    return status;
}
