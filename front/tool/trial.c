#include "front/tool/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/base/tools.h"
#include "support/memory.h"
#include "support/temporary.h"

#define STATUS_NOT_FOUND 127
#define STATUS_SIGNALED  128

/* --- the folder, and signals --- */

static char *folder_made;             /* to be removed */
static volatile sig_atomic_t running; /* a child */
static volatile sig_atomic_t came;    /* a signal that ends this process */

/* Called in the process that made it, and in no child of it. */
static void remove_folder(void)
{
    char *slash = strrchr(folder_made, '/');
    int parent;

    *slash = 0;
    parent = open(*folder_made ? folder_made : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    *slash = '/';
    if (parent < 0)
        return;
    temporary_remove(parent, slash + 1);
    close(parent);
}

static void hand_on(int number)
{
    came = number;
    if (running)
        kill(running, number);
}

/* The keys' signals reach the child by themselves. */
static void note_key(int number)
{
    came = number;
}

static void heed(int number, void (*handler)(int number))
{
    if (signal(number, handler) == SIG_IGN)
        signal(number, SIG_IGN);
}

void trials_begin(struct trials *trials)
{
    const char *temporary = getenv("TMPDIR");

    trials->folder =
        memory_print("%s/umbra-bisect-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(trials->folder))
        say_and_exit(STATUS_FAILED,
                     "%s: cannot be made: %s; set TMPDIR to a folder that can be used",
                     trials->folder, strerror(errno));
    folder_made = memory_copy_string(trials->folder);
    atexit(remove_folder);
    heed(SIGINT, note_key);
    heed(SIGQUIT, note_key);
    heed(SIGTERM, hand_on);
    heed(SIGHUP, hand_on);
}

static void end_of_signal(void)
{
    int number = came;

    if (!number)
        return;
    remove_folder();
    say("interrupted by signal %d", number);
    signal(number, SIG_DFL);
    raise(number);
}

static char *path_in(const struct trials *trials, const char *name)
{
    return memory_print("%s/%s", trials->folder, name);
}

/* --- one command --- */

/* What a file holds is read by each run from its beginning; nothing else is. */
static void begin_input(void)
{
    struct stat status;
    int nothing;

    if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
        lseek(STDIN_FILENO, 0, SEEK_SET) == 0)
        return;
    nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
}

static void write_to(int descriptor, const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

    if (file < 0)
        say_and_exit(STATUS_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    if (descriptor >= 0)
        dup2(file, descriptor);
    close(file);
}

/* How a child became no program, by a pipe that closes if it does become one. */
static _Noreturn void become(char *const *command, const char *output, const char *errors,
                             int failed)
{
    int error;

    begin_input();
    write_to(STDOUT_FILENO, output);
    write_to(STDERR_FILENO, errors);
    execvp(command[0], command);
    error = errno;
    if (write(failed, &error, sizeof(error)) < 0)
        error = 0; /* then the status alone tells */
    _exit(STATUS_NOT_FOUND);
}

static int await(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            say_and_exit(STATUS_FAILED, "a process is lost: %s", strerror(errno));
    running = 0;
    return WIFSIGNALED(status) ? STATUS_SIGNALED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Returns its status; ends this process if it cannot be run, or a signal has come. */
static int run(char *const *command, const char *output, const char *errors)
{
    int ends[2], error = 0, status;
    pid_t child;

    say_command(command);
    write_to(-1, output);
    write_to(-1, errors);
    if (pipe2(ends, O_CLOEXEC) < 0 || (child = fork()) < 0)
        say_and_exit(STATUS_FAILED, "a process cannot be started: %s", strerror(errno));
    if (child == 0)
        become(command, output, errors, ends[1]);
    running = child;
    close(ends[1]);
    if (came)
        kill(child, came);
    while (read(ends[0], &error, sizeof(error)) < 0 && errno == EINTR)
        ;
    close(ends[0]);
    status = await(child);
    end_of_signal();
    if (error)
        say_and_exit(error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_FOUND - 1,
                     "%s: cannot be run: %s", command[0], strerror(error));
    return status;
}

/* --- a run, and its judgement --- */

static void show_file(const char *path)
{
    char bytes[8192];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count;

    while (file >= 0 && (count = read(file, bytes, sizeof(bytes))) > 0)
        fwrite(bytes, 1, (size_t)count, stderr);
    if (file >= 0)
        close(file);
}

/* By `env`: the program itself has the same variables each time. */
static void make_check(struct words *command, const struct trials *trials, int status,
                       const char *output, const char *errors)
{
    words_add(command, "env");
    words_print(command, "UMBRA_STATUS=%d", status);
    words_print(command, "UMBRA_STDOUT=%s", output);
    words_print(command, "UMBRA_STDERR=%s", errors);
    words_add(command, "/bin/sh");
    words_add(command, "-c");
    words_add(command, trials->check);
}

static int check(const struct trials *trials, int status, const char *output, const char *errors)
{
    char *said = path_in(trials, "check");
    struct words command = {0};
    int checked;

    make_check(&command, trials, status, output, errors);
    checked = run(command.list, said, said);
    words_free(&command);
    if (trials->is_verbose)
        show_file(said);
    free(said);
    return checked;
}

static struct trial try(struct trials *trials, char *const *command)
{
    char *output = path_in(trials, "stdout"), *errors = path_in(trials, "stderr");
    struct trial trial = {0};

    trial.number = ++trials->count;
    trial.status = run(command, output, errors);
    if (trials->is_verbose) {
        show_file(output);
        show_file(errors);
    }
    if (trials->check)
        trial.checked = check(trials, trial.status, output, errors);
    free(output);
    free(errors);
    return trial;
}

struct trial trial_natively(struct trials *trials)
{
    return try(trials, trials->program);
}

/* umbra record has said why. */
static void require_recording(const struct trials *trials, const char *path, int status)
{
    char *errors = path_in(trials, "stderr");

    if (!recording_is_in(AT_FDCWD, path)) {
        if (!trials->is_verbose)
            show_file(errors);
        say_and_exit(status == STATUS_USAGE ? STATUS_USAGE : STATUS_FAILED,
                     "bisect: %s was not recorded; the recording's place was %s, in TMPDIR or /tmp",
                     *trials->program, path);
    }
    free(errors);
}

static char *recording_of(const struct trials *trials, unsigned number)
{
    return memory_print("%s/%u", trials->folder, number);
}

struct trial trial_recorded(struct trials *trials, const struct words *more)
{
    char *path = recording_of(trials, trials->count + 1);
    struct words command = {0};
    struct trial trial;

    words_add(&command, tools_find()->own);
    words_add(&command, "record");
    words_add(&command, "--quiet");
    words_print(&command, "--output=%s", path);
    words_add_all(&command, trials->options.list);
    words_add_all(&command, more->list);
    words_add(&command, "--");
    words_add_all(&command, trials->program);
    trial = try(trials, command.list);
    require_recording(trials, path, trial.status);
    words_free(&command);
    free(path);
    return trial;
}

void trial_open_recording(const struct trials *trials, const struct trial *trial,
                          struct recording *recording)
{
    char *path = recording_of(trials, trial->number);

    recording_open(recording, path);
    free(path);
}

void trial_forget(const struct trials *trials, const struct trial *trial)
{
    int folder = open(trials->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char name[32];

    snprintf(name, sizeof(name), "%u", trial->number);
    if (folder < 0)
        return;
    temporary_remove(folder, name);
    close(folder);
}

char *trial_describe(const struct trials *trials, const struct trial *trial)
{
    const char *name =
        trial->status > STATUS_SIGNALED ? sigabbrev_np(trial->status - STATUS_SIGNALED) : NULL;

    if (trials->check)
        return memory_print("the check's exit status %d", trial->checked);
    return name ? memory_print("exit status %d (SIG%s)", trial->status, name)
                : memory_print("exit status %d", trial->status);
}
