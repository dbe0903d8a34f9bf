#include "rewriter/tool/bisect_place.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rewriter/base/input_file.h"
#include "rewriter/tool/image_formats.h"
#include "rewriter/tool/tree_copy.h"
#include "support/memory.h"
#include "support/temporary.h"

#define SHELL_NOT_RUN 127 /* where the command could not be executed */

static volatile sig_atomic_t signal_came;

static void note_signal(int number)
{
    signal_came = number;
}

/* A directory has these permissions too, and execvp passes over it. */
static bool is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *bisect_place_find(const char *command)
{
    const char *folders = getenv("PATH");
    size_t length;

    if (strchr(command, '/'))
        return memory_print("%s", command);
    for (; folders; folders = folders[length] ? folders + length + 1 : NULL) {
        char *path;

        length = strcspn(folders, ":");
        path = memory_print("%.*s/%s", length ? (int)length : 1, length ? folders : ".", command);
        if (is_program(path))
            return path;
        free(path);
    }
    return NULL;
}

char *bisect_place_name(const char *path, uint64_t address)
{
    struct input_file input;
    struct image image;
    struct failure ignored;
    const struct function *function;
    char *name = NULL;

    if (!input_file_open(&input, path, &ignored))
        return NULL;
    if (image_open(&image, &input, &ignored)) {
        image.format->find_names(&image);
        if (image.format->read_debug_names)
            image.format->read_debug_names(&image, true);
        function = function_list_at(image.functions, address);
        if (function && function->name)
            name = memory_print("%s", function->name);
        image_close(&image);
    }
    input_file_close(&input);
    return name;
}

static void listen_to_signals(void (*handler)(int number))
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        sigaction(numbers[i], &(struct sigaction){.sa_handler = handler}, NULL);
}

/* A library is loaded by the name that it gives itself. */
static void link_module_name(const struct bisect_place *place)
{
    struct input_file input;
    struct image image;
    struct failure ignored;
    const char *name, *base = strrchr(place->copy, '/') + 1;
    char *path;

    if (!input_file_open(&input, place->image, &ignored))
        return;
    if (image_open(&image, &input, &ignored)) {
        name = image.format->module_name(&image);
        if (name && *name && !strchr(name, '/') && strcmp(name, base) != 0) {
            path = memory_print("%s/%s", place->folder, name);
            if (symlink(base, path) < 0)
                errno = 0; /* then it is found by its file's name alone */
            free(path);
        }
        image_close(&image);
    }
    input_file_close(&input);
}

bool bisect_place_open(struct bisect_place *place, const char *image, struct failure *failure)
{
    const char *temporary = getenv("TMPDIR"), *base = strrchr(image, '/');

    place->image = image;
    base = base ? base + 1 : image;
    snprintf(place->folder, sizeof(place->folder), "%s/umbra-bisect-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(place->folder))
        return fail(failure, place->folder, "cannot make it: %s", strerror(errno));
    if (snprintf(place->copy, sizeof(place->copy), "%s/%s", place->folder, base) >=
        (int)sizeof(place->copy)) {
        rmdir(place->folder);
        return fail(failure, image, "cannot copy it: %s", strerror(ENAMETOOLONG));
    }
    listen_to_signals(note_signal);
    link_module_name(place);
    return true;
}

void bisect_place_close(struct bisect_place *place)
{
    char *slash = strrchr(place->folder, '/');
    int directory;

    *slash = 0;
    directory =
        open(slash == place->folder ? "/" : place->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *slash = '/';
    if (directory >= 0) {
        temporary_remove(directory, slash + 1);
        close(directory);
    }
    listen_to_signals(SIG_DFL);
}

bool bisect_place_copy(struct bisect_place *place, const char *image, struct failure *failure)
{
    int file = open(image, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    bool is_copied;

    if (file < 0 || fstat(file, &status) < 0 || !S_ISREG(status.st_mode)) {
        fail(failure, image, "cannot read it: %s", strerror(file < 0 ? errno : EINVAL));
        if (file >= 0)
            close(file);
        return false;
    }
    is_copied = copy_file(file, image, place->copy, &status, failure);
    close(file);
    return is_copied;
}

/* Puts the folder in front of a list of folders; a list that was empty gets no empty entry, which
   would be the working directory. */
static void put_in_front(const char *variable, const char *folder)
{
    const char *old = getenv(variable);
    char *value = memory_print("%s%s%s", folder, old && *old ? ":" : "", old ? old : "");

    setenv(variable, value, 1);
    free(value);
}

/* Does an argument name the image? By its path, whatever way it is written; or, of the program
   itself, by its name. */
static bool is_image(const struct bisect_place *place, const char *argument)
{
    struct stat image, other;

    return strcmp(argument, place->image) == 0 ||
           (strchr(argument, '/') && stat(argument, &other) == 0 &&
            stat(place->image, &image) == 0 && image.st_dev == other.st_dev &&
            image.st_ino == other.st_ino);
}

static _Noreturn void become_command(const struct bisect_place *place, const char **command)
{
    int null = open("/dev/null", O_RDWR);
    size_t count = 0;
    char **arguments;

    while (command[count])
        count++;
    arguments = memory_zeroed(count + 1, sizeof(*arguments));
    for (size_t i = 0; i < count; i++)
        arguments[i] = (char *)(uintptr_t)(is_image(place, command[i]) ? place->copy : command[i]);
    listen_to_signals(SIG_DFL);
    put_in_front("PATH", place->folder);
    put_in_front("LD_LIBRARY_PATH", place->folder);
    setenv("UMBRA_BISECT", place->copy, 1);
    for (int stream = STDIN_FILENO; null >= 0 && stream <= STDERR_FILENO; stream++)
        dup2(null, stream);
    execvp(arguments[0], arguments);
    _exit(SHELL_NOT_RUN);
}

bool bisect_place_run(const struct bisect_place *place, const char **command,
                      struct bisect_end *end, struct failure *failure)
{
    pid_t child = -1, ended = -1;

    if (signal_came)
        return fail(failure, command[0], "interrupted by signal %d", (int)signal_came);
    fflush(NULL);
    child = fork();
    if (child == 0)
        become_command(place, command);
    if (child < 0)
        return fail(failure, command[0], "cannot run it: %s", strerror(errno));
    while (!signal_came && (ended = waitpid(child, &end->status, 0)) < 0 && errno == EINTR)
        ;
    if (ended != child) {
        kill(child, signal_came);
        waitpid(child, &end->status, 0);
    }
    if (signal_came)
        return fail(failure, command[0], "interrupted by signal %d", (int)signal_came);
    end->is_success = WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0;
    return true;
}

void bisect_end_write(const struct bisect_end *end, char how[BISECT_HOW_SIZE])
{
    if (end->is_success)
        snprintf(how, BISECT_HOW_SIZE, "succeeds");
    else if (WIFSIGNALED(end->status))
        snprintf(how, BISECT_HOW_SIZE, "fails: signal %d", WTERMSIG(end->status));
    else
        snprintf(how, BISECT_HOW_SIZE, "fails: exit status %d", WEXITSTATUS(end->status));
}
