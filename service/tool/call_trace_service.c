/* Hands trace files to instrumented programs and completes them: see service/server/service.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "service/base/message.h"
#include "service/base/process.h"
#include "service/server/command.h"
#include "service/server/daemon.h"
#include "service/server/serve.h"
#include "service/tool/choose.h"
#include "service/tool/control.h"
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

/* Returns the exit status. */
static int serve(const struct options *options, struct service *service)
{
    int status;

    if (!serve_run_command(service))
        return service->exit_status;
    status = serve_run(service);
    if (options->command && !service->recorder.last_session && !service->refused)
        message("%s: expected a program to record, found none: was it instrumented?",
                options->command[0]);
    return status;
}

static int start(const struct options *options)
{
    const struct service_settings settings = settings_of(options);
    struct service service;
    int status;

    if (options->command && options->linux_only && command_is_for_windows(options->command)) {
        message("%s: %s", options->command[0], options->linux_only);
        return EXIT_USAGE;
    }
    if (!serve_open(&service, &settings) || !open_log(options, &service))
        return EXIT_FAILED;
    if (!options->command)
        say_ready(options, &service);
    status = serve(options, &service);
    serve_close(&service);
    return status;
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
