/* Hands trace files to instrumented programs and completes them: see service/service.h. */
#include <stdio.h>

#include "service/choose.h"
#include "service/control.h"
#include "service/daemon.h"
#include "service/message.h"
#include "service/options.h"
#include "service/process.h"
#include "service/service.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Late: that the instance is served already is said where people look. */
static bool open_log(const struct options *options, struct service *service)
{
    if (!options->log_file || message_open_log(options->log_file))
        return true;
    service_close(service);
    return false;
}

static void say_ready(const struct options *options, const struct service *service)
{
    if (!options->quiet)
        message("instance %s is ready; traces go to %s", options->instance,
                service->trace_dir_path);
}

static int start(const struct options *options)
{
    struct service service;
    int status;

    if (!service_open(&service, options))
        return EXIT_FAILED;
    if (!open_log(options, &service))
        return EXIT_FAILED;
    if (!options->command)
        say_ready(options, &service);
    if (!service_run_command(&service)) {
        status = service.exit_status;
        goto err;
    }
    status = service_run(&service);
    if (options->command && !service.last_session && !service.refused)
        message("%s: expected a program to record, found none: was it instrumented?",
                options->command[0]);
err:
    service_close(&service);
    return status;
}

static int spawn(const struct options *options)
{
    struct service service;
    int caller = daemon_begin();
    int status;

    if (caller < 0 || !service_open(&service, options) || !open_log(options, &service))
        return EXIT_FAILED;
    if (options->log_file)
        say_ready(options, &service);
    daemon_ready(caller);
    status = service_run(&service);
    service_close(&service);
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
    if (fflush(stdout)) {
        message("standard output: cannot write");
        return EXIT_FAILED;
    }
    return status;
}
