#include "front/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/say.h"
#include "support/memory.h"
#include "support/temporary.h"
#include "support/utf8.h"

#define FIRST_LINE "umbra recording 1\n"

char *recording_path(const struct recording *recording, const char *name)
{
    return memory_print("%s/%s", recording->folder, name);
}

bool recording_is_in(const char *folder)
{
    char *path = memory_print("%s/recording", folder);
    char line[sizeof(FIRST_LINE)] = "";
    FILE *file = fopen(path, "re");

    free(path);
    if (!file)
        return false;
    if (!fgets(line, sizeof(line), file))
        *line = 0;
    fclose(file);
    return !strcmp(line, FIRST_LINE);
}

static void remove_recording(const char *path)
{
    char *folder = memory_copy_string(path), *slash = strrchr(folder, '/');
    int directory;

    *slash = 0;
    directory = open(slash == folder ? "/" : folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        temporary_remove(directory, slash + 1);
        close(directory);
    }
    free(folder);
}

static bool is_there(const char *path)
{
    struct stat ignored;

    return lstat(path, &ignored) == 0;
}

/* --- an earlier one of the same name ---
 *
 *                      NAME        NAME.old    in NAME/older
 *      before          B           A
 *      made            new         B           A
 *      begun           new         B           (removed)
 *      taken back      B           A
 *
 * So what cannot be run, for the value of an option as an example, costs no earlier recording. The
 * new one is made as NAME.new-PID first: if there is no room for it, nothing has been moved.
 */
#define OLDER "older"

#define HELD_TRIES    50
#define HELD_PAUSE_US 20000

static void require_recording(const char *path, const char *name)
{
    if (is_there(path) && !recording_is_in(path))
        say_and_exit(STATUS_FAILED,
                     "%s: expected a recording or nothing there, found something else; name "
                     "another place with -o",
                     name);
}

static void rename_or_exit(const char *from, const char *to)
{
    if (rename(from, to) < 0)
        say_and_exit(STATUS_FAILED, "%s: cannot be renamed to %s: %s; name another place with -o",
                     from, to, strerror(errno));
}

/* While it lasts, umbra record and the supervisor have a lock on the folder. Both keep the
   descriptor until they end. */
static void hold(const char *folder)
{
    const int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (directory >= 0)
        flock(directory, LOCK_EX | LOCK_NB);
}

static bool is_held(const char *folder)
{
    const int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is;

    if (directory < 0)
        return false;
    is = flock(directory, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(directory);
    return is;
}

/* The supervisor of one that has just ended may live a little longer. */
static bool is_held_on(const char *folder)
{
    for (int tries = 0; tries < HELD_TRIES; tries++) {
        if (!is_held(folder))
            return false;
        usleep(HELD_PAUSE_US);
    }
    return true;
}

bool recording_goes_on(const struct recording *recording)
{
    return is_held(recording->folder);
}

static char *path_of_new(const struct recording *recording)
{
    return memory_print("%s.new-%d", recording->folder, (int)getpid());
}

static char *path_of_old(const struct recording *recording)
{
    return memory_print("%s" RECORDING_OLD, recording->folder);
}

/* A folder with the first line in it; or ends the process. */
static void make_new(const struct recording *recording, const char *folder)
{
    char *path = memory_print("%s/recording", folder);
    int error = 0;
    FILE *file;

    if (mkdir(folder, 0700) < 0)
        say_and_exit(STATUS_FAILED, "%s: cannot be made: %s; name another place with -o",
                     recording->name, strerror(errno));
    file = fopen(path, "wxe");
    if (!file || fputs(FIRST_LINE, file) < 0)
        error = errno;
    if (file && fclose(file) != 0 && !error)
        error = errno;
    free(path);
    if (!error)
        return;
    remove_recording(folder);
    say_and_exit(STATUS_FAILED, "%s: cannot be written: %s; name another place with -o",
                 recording->name, strerror(error));
}

/* perf does the same to perf.data. */
static void move_aside(const struct recording *recording, const char *folder_of_new)
{
    char *old = path_of_old(recording), *older = memory_print("%s/" OLDER, folder_of_new);

    if (is_there(old))
        rename_or_exit(old, older);
    rename_or_exit(recording->folder, old);
    free(old);
    free(older);
}

static char *without_slashes(const char *name)
{
    char *copy = memory_copy_string(name);
    size_t length = strlen(copy);

    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = 0;
    return copy;
}

/* Its folder is there, itself perhaps not. */
static char *absolute(const char *name)
{
    char folder[PATH_MAX];

    if (*name == '/')
        return memory_copy_string(name);
    if (!getcwd(folder, sizeof(folder)))
        say_and_exit(STATUS_FAILED, "%s: the working directory has no path: %s", name,
                     strerror(errno));
    return memory_print("%s/%s", folder, name);
}

void recording_make(struct recording *recording, const char *name)
{
    char *new, *old, *name_of_old;

    if (!*name)
        say_and_exit(STATUS_USAGE, "--output=: expected the name of a folder, found none");
    recording->name = without_slashes(name);
    recording->folder = absolute(recording->name);
    new = path_of_new(recording);
    old = path_of_old(recording);
    name_of_old = memory_print("%s" RECORDING_OLD, recording->name);
    require_recording(recording->folder, recording->name);
    recording->has_earlier = is_there(recording->folder);
    if (recording->has_earlier)
        require_recording(old, name_of_old);
    if (recording->has_earlier && is_held_on(recording->folder))
        say_and_exit(STATUS_FAILED,
                     "%s: is being recorded by another umbra record, or a program that it left "
                     "still runs; name another place with -o",
                     recording->name);
    make_new(recording, new);
    hold(new);
    if (recording->has_earlier)
        move_aside(recording, new);
    rename_or_exit(new, recording->folder);
    free(new);
    free(old);
    free(name_of_old);
}

void recording_begin(const struct recording *recording)
{
    char *older = recording_path(recording, OLDER), *pid = memory_print("%d", (int)getpid());

    recording_note(recording, "pid", pid);
    if (is_there(older))
        remove_recording(older);
    free(older);
    free(pid);
}

bool recording_has_begun(const struct recording *recording)
{
    char *pid = recording_value(recording, "pid");
    const bool has_begun = pid;

    free(pid);
    return has_begun;
}

void recording_take_back(const struct recording *recording)
{
    char *new = path_of_new(recording), *old = path_of_old(recording);
    char *older = memory_print("%s/" OLDER, new);

    rename_or_exit(recording->folder, new);
    if (recording->has_earlier)
        rename_or_exit(old, recording->folder);
    if (is_there(older))
        rename_or_exit(older, old);
    remove_recording(new);
    free(new);
    free(old);
    free(older);
}

void recording_open(struct recording *recording, const char *name)
{
    recording->name = without_slashes(name);
    if (!is_there(recording->name))
        say_and_exit(STATUS_FAILED, "%s: %s; make a recording with: umbra record -- PROGRAM",
                     recording->name, strerror(ENOENT));
    if (!recording_is_in(recording->name))
        say_and_exit(STATUS_FAILED,
                     "%s: expected a folder that umbra record made, found something else; traces "
                     "are for the grinder",
                     recording->name);
    recording->folder = absolute(recording->name);
}

void recording_free(struct recording *recording)
{
    free(recording->name);
    free(recording->folder);
    *recording = (struct recording){0};
}

void recording_note(const struct recording *recording, const char *name, const char *value)
{
    char *path = recording_path(recording, "recording"), *line = memory_copy_string(value);
    FILE *file = fopen(path, "ae");

    utf8_sanitise(line);
    if (file) {
        fprintf(file, "%s\t%s\n", name, line);
        fclose(file);
    }
    free(line);
    free(path);
}

/* Calls back with the fields of each line of a file: name, and what stands behind one tab. */
static void each_line(const struct recording *recording, const char *file_name,
                      void (*each)(void *owner, const char *name, char *rest), void *owner)
{
    char *path = recording_path(recording, file_name), *line = NULL;
    FILE *file = fopen(path, "re");
    size_t size = 0;

    free(path);
    while (file && getline(&line, &size, file) > 0) {
        char *tab = strchr(line, '\t');
        line[strcspn(line, "\n")] = 0;
        if (!tab)
            continue;
        *tab = 0;
        each(owner, line, tab + 1);
    }
    free(line);
    if (file)
        fclose(file);
}

struct wanted {
    const char *name;
    char *value;
};

static void take_value(void *owner, const char *name, char *rest)
{
    struct wanted *wanted = owner;

    if (strcmp(name, wanted->name) != 0)
        return;
    free(wanted->value);
    wanted->value = memory_copy_string(rest);
}

char *recording_value(const struct recording *recording, const char *name)
{
    struct wanted wanted = {.name = name};

    each_line(recording, "recording", take_value, &wanted);
    return wanted.value;
}

struct maps {
    const struct recording *recording;
    struct words *words;
};

static void add_map(void *owner, const char *name, char *rest)
{
    const struct maps *maps = owner;
    char *tab = strchr(rest, '\t');

    if (strcmp(name, "instrumented") != 0 || !tab)
        return;
    *tab = 0;
    words_print(maps->words, "--path-map=%s=%s/%s", rest, maps->recording->folder, tab + 1);
}

void recording_add_path_maps(const struct recording *recording, struct words *words)
{
    struct maps maps = {recording, words};

    each_line(recording, "files", add_map, &maps);
}

struct count {
    const char *what;
    struct words seen;
};

static void count_file(void *owner, const char *name, char *rest)
{
    struct count *count = owner;

    if (strcmp(name, count->what) != 0)
        return;
    rest[strcspn(rest, "\t")] = 0;
    for (size_t i = 0; i < count->seen.count; i++)
        if (!strcmp(count->seen.list[i], rest))
            return;
    words_add(&count->seen, rest);
}

size_t recording_count_files(const struct recording *recording, const char *what)
{
    struct count count = {.what = what};
    size_t result;

    each_line(recording, "files", count_file, &count);
    result = count.seen.count;
    words_free(&count.seen);
    return result;
}

static void show_left(void *owner, const char *name, char *rest)
{
    char *tab = strchr(rest, '\t');

    if (strcmp(name, "left") != 0 || !tab)
        return;
    *tab = 0;
    fprintf(owner, "umbra: %s: left as it is: %s\n", rest, tab + 1);
}

void recording_show_left(const struct recording *recording, FILE *stream)
{
    each_line(recording, "files", show_left, stream);
}

/* The pid in NAME-PID-N.bin; null if it is no trace's name. */
static const char *pid_in(char *name)
{
    const size_t length = strlen(name);
    char *dash;

    if (length < 4 || strcmp(name + length - 4, ".bin") != 0)
        return NULL;
    dash = strrchr(name, '-');
    if (!dash)
        return NULL;
    *dash = 0;
    dash = strrchr(name, '-');
    return dash ? dash + 1 : NULL;
}

size_t recording_count_traces(const struct recording *recording)
{
    char *folder = recording_path(recording, "traces");
    DIR *directory = opendir(folder);
    struct dirent *entry;
    size_t count = 0;

    free(folder);
    while (directory && (entry = readdir(directory)))
        count += pid_in(entry->d_name) != NULL;
    if (directory)
        closedir(directory);
    return count;
}

/* What belongs to NAME-PID-N.bin has the same name and another suffix, or more suffixes. */
void recording_keep_process(const struct recording *recording, const char *pid)
{
    char *folder = recording_path(recording, "traces");
    DIR *directory = opendir(folder);
    struct dirent *entry;

    free(folder);
    while (directory && (entry = readdir(directory))) {
        char *stem = memory_copy_string(entry->d_name), *dash = strrchr(stem, '-');
        if (dash) {
            *dash = 0;
            dash = strrchr(stem, '-');
        }
        if (dash && strcmp(dash + 1, pid) != 0)
            unlinkat(dirfd(directory), entry->d_name, 0);
        free(stem);
    }
    if (directory)
        closedir(directory);
}
