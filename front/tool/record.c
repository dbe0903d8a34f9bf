#include "front/tool/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "front/base/making_line.h"
#include "front/base/say.h"
#include "front/base/tools.h"
#include "front/cache/cache.h"
#include "front/recording/meeting_place.h"
#include "front/recording/new_recording.h"
#include "front/supervisor/supervisor.h"
#include "front/tool/find_program.h"
#include "front/tool/inside.h"
#include "front/tool/record_options.h"
#include "front/tool/unmatched.h"
#include "front/tool/unrecorded.h"
#include "support/memory.h"

#define STATUS_SIGNALED 128

/* --- running it --- */

static volatile sig_atomic_t running; /* call_trace_service */
static volatile sig_atomic_t key;     /* SIGINT or SIGQUIT, if it came */

static void pass_on(int number)
{
    if (running)
        kill(running, number);
}

/* A key's signals reach the program by themselves, what is sent to this process does not. */
static void note_key(int number, siginfo_t *info, void *context)
{
    (void)context;
    key = number;
    if (info->si_code != SI_KERNEL)
        pass_on(number);
}

static void heed_key(int number)
{
    struct sigaction before,
        heeding = {.sa_sigaction = note_key, .sa_flags = SA_SIGINFO | SA_RESTART};

    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &heeding, NULL);
}

/* What a key ends is to look so to a shell: its loop ends only if its command dies of the key. */
static void end_as(int status)
{
    if (!key || status != STATUS_SIGNALED + key)
        return;
    setrlimit(RLIMIT_CORE, &(const struct rlimit){0, 0});
    signal(key, SIG_DFL);
    raise(key);
}

/* This process stays to tell the end. */
static void set_signals(void)
{
    heed_key(SIGINT);
    heed_key(SIGQUIT);
    signal(SIGTERM, pass_on);
    signal(SIGHUP, pass_on);
}

/* With traces in that folder of the recording. */
static void make_service(struct words *words, const struct record_options *options,
                         const struct recording *recording, const char *instance,
                         const char *folder)
{
    words_add(words, tools_find()->service);
    words_add(words, "start");
    words_add(words, "--quiet");
    words_print(words, "--instance-id=%s", instance);
    words_print(words, "--trace-dir=/proc/self/fd/%d/%s", recording->directory, folder);
    if (options->is_of_stacks)
        words_add(words, "--mode=samples");
}

static void make_command(struct words *words, const struct record_options *options,
                         const struct inside *inside, const char *instance)
{
    const struct recording *recording = inside->recording;

    make_service(words, options, recording, instance, "traces");
    words_add_all(words, options->service.list);
    words_add(words, "--");
    if (!options->is_of_stacks)
        inside_command(words, inside);
    words_add_all(words, options->program);
}

/* Returns false with errno if there can be no process. */
static bool run_command(char *const *command, int *result)
{
    struct sigaction interrupt, quit;
    int status = 0;
    pid_t child;

    sigaction(SIGINT, NULL, &interrupt);
    sigaction(SIGQUIT, NULL, &quit);
    set_signals();
    child = fork();
    if (child == 0) {
        sigaction(SIGINT, &interrupt, NULL);
        sigaction(SIGQUIT, &quit, NULL);
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        tool_become(command);
        _exit(STATUS_NOT_FOUND);
    }
    running = child;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    running = 0;
    *result = WIFSIGNALED(status) ? STATUS_SIGNALED + WTERMSIG(status) : WEXITSTATUS(status);
    return child > 0;
}

/* Whatever hinders us: the program is run, as it is. */
static _Noreturn void run_unrecorded(const struct record_options *options, const char *path,
                                     mode_t mask, const char *why)
{
    say("%s; %s is run as it is, and not recorded", why, *options->program);
    umask(mask);
    execvp(path, options->program);
    say_and_exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_FOUND - 1, "%s: cannot be run: %s",
                 *options->program, strerror(errno));
}

/* --- before and after --- */

static void note_beginning(const struct recording *recording, const struct record_options *options,
                           const char *instance)
{
    time_t now = time(NULL);
    char *command = NULL, date[32];
    size_t size;
    FILE *text = open_memstream(&command, &size);

    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    for (char **word = options->program; text && *word; word++)
        fprintf(text, "%s%s", word == options->program ? "" : " ", *word);
    if (text)
        fclose(text);
    recording_note(recording, "command", command ? command : *options->program);
    recording_note_arguments(recording, options->program);
    recording_note(recording, "began", date);
    recording_note(recording, "instance", instance);
    free(command);
}

static void note_end(const struct recording *recording, int status)
{
    char *text = memory_print("%d", status);

    recording_note(recording, "status", text);
    free(text);
}

/* A report's page is of times. */
static bool has_times(const struct record_options *options)
{
    bool has = true;

    for (size_t i = 0; i < options->service.count; i++)
        if (!strncmp(options->service.list[i], "--timing=", 9))
            has = strcmp(options->service.list[i] + 9, "none") != 0;
    return has || options->is_twice;
}

/* why: no process was recorded. */
static void tell_nothing(const struct recording *recording, const char *why,
                         enum new_recording_end end)
{
    const char *name = recording->name;
    char *quoted = say_quoted(name);

    if (end == NEW_RECORDING_GONE)
        say("no process was recorded: %s; %s is the earlier recording", why, name);
    else if (end == NEW_RECORDING_FAILED)
        say("no process was recorded: %s; the earlier recording keeps its name, this one is %s: "
            "umbra ls --left %s",
            why, name, quoted);
    else
        say("%s: no process was recorded: %s", name, why);
    free(quoted);
}

/* What shows it. */
static const char *view_of(const struct record_options *options)
{
    for (size_t i = 0; i < options->instrument.count; i++)
        if (!strcmp(options->instrument.list[i], "--no-calls"))
            return " --mode=coverage";
    return has_times(options) ? "" : " --text";
}

static void tell(const struct recording *recording, const struct record_options *options)
{
    const char *view = view_of(options);
    size_t processes = recording_count_processes(recording);
    size_t left =
        recording_count_files(recording, "left") + recording_count_files(recording, "confined");
    char *quoted;

    if (options->is_quiet)
        return;
    quoted = say_quoted(recording->name);
    if (options->is_verbose || left == 1)
        recording_show_left(recording, stderr);
    else if (left)
        say("%zu files were left as they are: umbra ls --left %s", left, quoted);
    if (!strcmp(recording->name, RECORDING_DEFAULT))
        say("%zu process%s recorded in %s; to see it: umbra report%s", processes,
            processes == 1 ? "" : "es", recording->name, view);
    else
        say("%zu process%s recorded in %s; to see it: umbra report%s %s", processes,
            processes == 1 ? "" : "es", recording->name, view, quoted);
    free(quoted);
}

static void keep_program_alone(const struct recording *recording)
{
    char *pid = recording_value(recording, "pid");

    if (pid)
        recording_keep_process(recording, pid);
    free(pid);
}

/* --- one recording --- */

struct run {
    struct record_options options;
    struct new_recording made;
    struct cache cache;
    struct inside inside;
    char *path;       /* of the program */
    int begun;        /* a byte comes when the program begins */
    pid_t supervisor; /* 0: none */
};

/* Null, or why there can be none, to be freed. Ours inherit the recording's descriptor, and the
   program does not. */
static char *prepare(struct run *run)
{
    char *why;

    if (access("/proc/self/fd", X_OK) < 0)
        return memory_print("/proc: %s: without it nothing can be recorded; mount it",
                            strerror(errno));
    why = new_recording_make(&run->made, run->options.output);
    if (!why)
        fcntl(run->made.recording.directory, F_SETFD, 0);
    return why;
}

static bool begin_supervisor(struct run *run)
{
    int terminal = run->inside.shows_progress ? making_line_open() : -1;
    const struct supervisor_wish wish = {&run->made.recording,    &run->cache,
                                         &run->options.leave,     !run->options.children,
                                         run->options.is_verbose, terminal};
    char *apart = recording_own_path(&run->made.recording, "cache");

    cache_open(&run->cache, &run->options.instrument, apart);
    free(apart);
    run->supervisor = supervisor_start(&wish, &run->inside.socket);
    if (terminal >= 0)
        close(terminal);
    return run->supervisor > 0;
}

/* Waits for the supervisor, which ends by itself if nobody speaks to it: else the program would
   have a child that is not its own. */
static void await_supervisor(const struct run *run)
{
    if (run->supervisor > 0)
        waitpid(run->supervisor, NULL, 0);
}

/* Opens both ends of the pipe. The program's is closed by `umbra inside`. */
static bool open_pipe(struct run *run)
{
    int ends[2];

    if (pipe2(ends, O_NONBLOCK) < 0)
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    run->begun = ends[0];
    run->inside.begun = ends[1];
    return true;
}

static bool has_begun(const struct run *run)
{
    char byte;

    if (run->options.is_of_stacks)
        return recording_count_processes(&run->made.recording) > 0;
    return read(run->begun, &byte, 1) == 1;
}

/* Returns false with errno if there can be no process. */
static bool start(struct run *run, const char *instance, int *status)
{
    struct words command = {0};
    bool ok;

    if (run->options.is_of_stacks) {
        umask(run->inside
                  .mask); /* which the program gets; traces are the user's alone all the same */
        make_command(&command, &run->options, &run->inside, instance);
        ok = run_command(command.list, status);
        umask(077);
        words_free(&command);
        return ok;
    }
    if (!open_pipe(run) || (run->options.in_place && !begin_supervisor(run)))
        return false;
    make_command(&command, &run->options, &run->inside, instance);
    ok = run_command(command.list, status);
    if (run->inside.socket >= 0)
        close(run->inside.socket);
    close(run->inside.begun);
    words_free(&command);
    return ok;
}

/* Whether the program could be executed at all. */
static bool has_run(const struct recording *recording)
{
    char *status = recording_value(recording, "status");
    int number = status ? atoi(status) : 0;

    free(status);
    return number != STATUS_NOT_FOUND && number != STATUS_NOT_FOUND - 1;
}

static void conclude(struct run *run)
{
    const struct recording *recording = &run->made.recording;
    enum new_recording_end end;
    char *why = NULL;

    if (recording_count_processes(recording) == 0)
        why = unrecorded_find_why(recording, run->path);
    if (why && run->options.is_verbose)
        recording_show_left(recording, stderr);
    if (!run->options.is_quiet && !run->options.is_of_stacks)
        unmatched_tell(recording, &run->options.instrument);
    end = new_recording_end(&run->made);
    if (why && !run->options.is_quiet) {
        tell_nothing(recording, why, end);
        if (!run->options.is_of_stacks && has_run(recording))
            say("what cannot be instrumented can be sampled: umbra record --how=samples -- %s ...",
                *run->options.program);
    } else if (!why)
        tell(recording, &run->options);
    free(why);
}

/* Runs the program a second time, as it is. What it reads from a file it reads again. */
static void run_again(const struct run *run, const char *instance, int first_status, off_t input)
{
    const struct recording *recording = &run->made.recording;
    struct words command = {0};
    int status = 0;

    if (input >= 0)
        lseek(STDIN_FILENO, input, SEEK_SET);
    make_service(&command, &run->options, recording, instance, RECORDING_TIMES);
    words_add(&command, "--mode=samples");
    words_add_all(&command, run->options.samples.list);
    words_add(&command, "--");
    words_add_all(&command, run->options.program);
    umask(run->inside.mask);
    if (!run_command(command.list, &status))
        say("a process cannot be started: %s; there are no times", strerror(errno));
    else if (status != first_status)
        say("the second run ended with status %d, the first with %d", status, first_status);
    umask(077);
    words_free(&command);
}

/* Nothing began. Of a wrong option call_trace_service has said so, and a key or a signal was meant
   for the program, too: all else is no reason not to run it. */
static int end_without(struct run *run, int status)
{
    await_supervisor(run);
    new_recording_take_back(&run->made);
    if (status == STATUS_USAGE || status > STATUS_SIGNALED || key) {
        say("nothing was run, and no recording was made");
        return status;
    }
    run_unrecorded(&run->options, run->path, run->inside.mask,
                   "the processes that record cannot be run");
}

/* The arguments of a process; none if they cannot be read. */
static void read_arguments_of(pid_t pid, struct words *words)
{
    char *path = memory_print("/proc/%d/cmdline", (int)pid), *argument = NULL;
    FILE *file = fopen(path, "re");
    size_t size = 0;

    while (file && getdelim(&argument, &size, 0, file) > 0)
        words_add(words, argument);
    if (file)
        fclose(file);
    free(argument);
    free(path);
}

/* Samples a process that runs, until it ends, or a signal ends the recording. */
static int record_running(struct run *run)
{
    const struct recording *recording = &run->made.recording;
    char *instance = memory_print("umbra-record-%d", (int)getpid()), *why;
    struct words of_process = {0}, command = {0};
    int status = 0;

    read_arguments_of(run->options.pid, &of_process);
    if (!of_process.count)
        words_print(&of_process, "%d", (int)run->options.pid);
    run->options.program = of_process.list;
    run->inside.mask = umask(077);
    why = prepare(run);
    if (why)
        say_and_exit(STATUS_FAILED, "record: %s", why);
    note_beginning(recording, &run->options, instance);
    make_service(&command, &run->options, recording, instance, "traces");
    words_add_all(&command, run->options.service.list);
    words_print(&command, "--pid=%d", (int)run->options.pid);
    if (!run->options.is_quiet && isatty(STDERR_FILENO))
        say("sampling %d, %s, until it ends or ^C", (int)run->options.pid, *of_process.list);
    if (!run_command(command.list, &status))
        say_and_exit(STATUS_FAILED, "record: a process cannot be started: %s", strerror(errno));
    if (!recording_count_processes(recording)) {
        new_recording_take_back(&run->made);
        return status ? status : STATUS_FAILED;
    }
    note_end(recording, 0);
    conclude(run);
    return 0;
}

int record_main(int count, char **arguments)
{
    struct run run = {.inside = {.socket = -1}};
    const struct recording *recording = &run.made.recording;
    char *instance, *why;
    off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
    int status = 0;

    record_options_read(&run.options, count, arguments);
    if (run.options.is_verbose)
        say_commands();
    if (run.options.pid)
        return record_running(&run);
    run.path = program_require(*run.options.program);
    run.inside.mask = umask(077);
    why = prepare(&run);
    if (why)
        run_unrecorded(&run.options, run.path, run.inside.mask, why);
    instance = memory_print("umbra-record-%d", (int)getpid());
    note_beginning(recording, &run.options, instance);
    meeting_place_choose(recording, instance);
    run.inside.path = run.path;
    run.inside.options = run.options.instrument;
    run.inside.leave = run.options.leave;
    run.inside.shows_progress = !run.options.is_quiet && !run.options.is_verbose;
    run.inside.recording = recording;
    if (!start(&run, instance, &status)) {
        why = memory_print("a process cannot be started: %s", strerror(errno));
        await_supervisor(&run);
        new_recording_take_back(&run.made);
        run_unrecorded(&run.options, run.path, run.inside.mask, why);
    }
    if (!has_begun(&run))
        return end_without(&run, status);
    note_end(recording, status);
    meeting_place_leave(recording);
    if (!run.options.children)
        keep_program_alone(recording);
    if (run.options.is_twice && !key)
        run_again(&run, instance, status, input);
    conclude(&run);
    end_as(status);
    return status;
}
