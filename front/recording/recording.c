#include "front/recording/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/files/below.h"
#include "support/memory.h"
#include "support/utf8.h"

#define LARGEST    (64 << 20) /* bytes of `recording` and of `files` that are read */
#define DISK_BLOCK 512        /* bytes, of st_blocks */

char *recording_path(const struct recording *recording, const char *name)
{
    return memory_print("%s/%s", recording->folder, name);
}

char *recording_own_path(const struct recording *recording, const char *name)
{
    return memory_print("/proc/self/fd/%d/%s", recording->directory, name);
}

char *recording_name(const char *name)
{
    char *copy = memory_copy_string(name);
    size_t length = strlen(copy);

    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = 0;
    return copy;
}

/* The folder is perhaps not there, and a working directory that was removed has no path. */
char *recording_folder(const char *name)
{
    char folder[PATH_MAX];

    if (*name == '/' || !getcwd(folder, sizeof(folder)))
        return memory_copy_string(name);
    return memory_print("%s/%s", folder, name);
}

/* errno is EACCES if nobody lets us see. */
static bool has_first_line(int directory)
{
    int file = below_open_file(directory, "recording");
    char line[sizeof(RECORDING_FIRST_LINE)] = "";
    bool has;

    if (file < 0)
        return false;
    errno = 0;
    has = read(file, line, sizeof(line) - 1) == sizeof(line) - 1 &&
          !strcmp(line, RECORDING_FIRST_LINE);
    close(file);
    return has;
}

bool recording_is_in(int directory, const char *folder)
{
    int opened = openat(directory, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool is = opened >= 0 && has_first_line(opened);

    int error = errno;

    if (opened >= 0)
        close(opened);
    errno = error;
    return is;
}

/* errno says why it cannot be read. */
static _Noreturn void refuse(const char *name)
{
    int error = errno;
    struct stat status;

    if (error == EACCES && stat(name, &status) == 0 && status.st_uid != geteuid())
        say_and_exit(STATUS_FAILED,
                     "%s: cannot be read: %s; it is of user %u: read it as that user or as root",
                     name, strerror(error), (unsigned)status.st_uid);
    if (error == EACCES)
        say_and_exit(STATUS_FAILED, "%s: cannot be read: %s; chmod u+rwX makes it readable", name,
                     strerror(error));
    say_and_exit(STATUS_FAILED, "%s: %s; make a recording with: umbra record -- PROGRAM", name,
                 strerror(error));
}

void recording_open(struct recording *recording, const char *name)
{
    bool is;

    *recording = (struct recording){.name = recording_name(name)};
    recording->directory = open(recording->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (recording->directory < 0 && errno != ENOTDIR)
        refuse(recording->name);
    is = recording->directory >= 0 && has_first_line(recording->directory);
    if (!is && errno == EACCES)
        refuse(recording->name);
    if (!is)
        say_and_exit(STATUS_FAILED,
                     "%s: expected a folder that umbra record made, found another %s; traces are "
                     "for the grinder: grinder --mode=report TRACE",
                     recording->name, recording->directory < 0 ? "file" : "folder");
    recording->folder = recording_folder(recording->name);
}

void recording_free(struct recording *recording)
{
    free(recording->name);
    free(recording->folder);
    close(recording->directory);
    *recording = (struct recording){.directory = -1};
}

void recording_find_again(struct recording *recording)
{
    int again = open(recording->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (again >= 0 && below_is_same(again, recording->directory))
        recording->directory = again; /* the one before keeps the lock */
    else if (again >= 0)
        close(again);
}

bool recording_goes_on(const struct recording *recording)
{
    if (flock(recording->directory, LOCK_SH | LOCK_NB) < 0)
        return errno == EWOULDBLOCK;
    flock(recording->directory, LOCK_UN);
    return false;
}

void recording_note(const struct recording *recording, const char *name, const char *value)
{
    int file = below_open_to_append(recording->directory, "recording");
    char *plain = memory_copy_string(value);

    utf8_sanitise(plain);
    if (file >= 0) {
        dprintf(file, "%s\t%s\n", name, plain);
        close(file);
    }
    free(plain);
}

/* All of a file, with a zero behind it, to be freed; null if there is none that is to be read. */
static char *read_text(const struct recording *recording, const char *file_name)
{
    int file = below_open_file(recording->directory, file_name);
    struct stat status;
    char *text = NULL;
    ssize_t count;

    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && status.st_size <= LARGEST) {
        text = memory_zeroed(1, (size_t)status.st_size + 1);
        count = read(file, text, (size_t)status.st_size);
        text[count < 0 ? 0 : count] = 0;
    }
    close(file);
    return text;
}

/* Calls back with the fields of each line of a file: name, and what stands behind one tab. */
static void each_line(const struct recording *recording, const char *file_name,
                      void (*each)(void *owner, const char *name, char *rest), void *owner)
{
    char *text = read_text(recording, file_name), *rest = text, *line, *tab;

    while ((line = strsep(&rest, "\n"))) {
        tab = strchr(line, '\t');
        if (!tab)
            continue;
        *tab = 0;
        each(owner, line, tab + 1);
    }
    free(text);
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
    if (wanted.value)
        utf8_sanitise(wanted.value);
    return wanted.value;
}

/* What utf8_write_json has written; null if text does not begin with a string. */
static const char *behind_string(const char *text)
{
    if (*text++ != '"')
        return NULL;
    for (; *text && *text != '"'; text++)
        if (*text == '\\' && *++text != '"' && *text != '\\')
            return NULL;
    return *text ? text + 1 : NULL;
}

/* Whether a text is a JSON array of strings. It may be anybody's, and is copied into what other
 * programs read. */
static bool is_array_of_strings(const char *text)
{
    if (*text++ != '[')
        return false;
    while ((text = behind_string(text)) && *text == ',')
        text++;
    return text && !strcmp(text, "]");
}

char *recording_arguments(const struct recording *recording)
{
    char *text = recording_value(recording, "arguments");

    if (text && is_array_of_strings(text))
        return text;
    free(text);
    return NULL;
}

void recording_note_arguments(const struct recording *recording, char *const *words)
{
    char *text = NULL;
    size_t size;
    FILE *array = open_memstream(&text, &size);

    if (!array)
        return;
    for (size_t i = 0; words[i]; i++) {
        putc(i ? ',' : '[', array);
        utf8_write_json(array, words[i]);
    }
    putc(']', array);
    if (fclose(array) == 0)
        recording_note(recording, "arguments", text);
    free(text);
}

struct maps {
    const struct recording *recording;
    struct words *words;
};

/* In a --path-map, == stands for a = of the path. */
static char *doubled(const char *path)
{
    char *text = memory_zeroed(2, strlen(path) + 1), *to = text;

    for (; *path; path++) {
        if (*path == '=')
            *to++ = '=';
        *to++ = *path;
    }
    return text;
}

/* What another user's recording may name is looked at before the grinder reads it. */
static bool is_image(const struct recording *recording, const char *image)
{
    int file = below_open(recording->directory, image, O_PATH, 0);
    struct stat status;
    bool is = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);

    if (file >= 0)
        close(file);
    return is;
}

static void add_map(void *owner, const char *name, char *rest)
{
    const struct maps *maps = owner;
    char *tab = strchr(rest, '\t'), *path;

    if (strcmp(name, "instrumented") != 0 || !tab || !is_image(maps->recording, tab + 1))
        return;
    *tab = 0;
    path = doubled(rest);
    words_print(maps->words, "--path-map=%s=%s/%s", path, maps->recording->folder, tab + 1);
    free(path);
}

void recording_add_path_maps(const struct recording *recording, struct words *words)
{
    struct maps maps = {recording, words};

    each_line(recording, "files", add_map, &maps);
}

void recording_add_coming_path_map(const struct recording *recording, struct words *words)
{
    words_print(words, "--path-map=/=%s/images/", recording->folder);
}

struct wanted_files {
    const char *what;
    struct words paths;
};

static void take_file(void *owner, const char *name, char *rest)
{
    struct wanted_files *wanted = owner;

    if (strcmp(name, wanted->what) != 0)
        return;
    rest[strcspn(rest, "\t")] = 0;
    words_add(&wanted->paths, rest);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void recording_list_files(const struct recording *recording, const char *what, struct words *paths)
{
    struct wanted_files wanted = {.what = what};
    char **list;

    each_line(recording, "files", take_file, &wanted);
    list = wanted.paths.list;
    if (wanted.paths.count)
        qsort(list, wanted.paths.count, sizeof(*list), by_name);
    for (size_t i = 0; i < wanted.paths.count; i++)
        if (!i || strcmp(list[i], list[i - 1]) != 0)
            words_add(paths, list[i]);
    words_free(&wanted.paths);
}

size_t recording_count_files(const struct recording *recording, const char *what)
{
    struct words paths = {0};
    size_t count;

    recording_list_files(recording, what, &paths);
    count = paths.count;
    words_free(&paths);
    return count;
}

static void show_left(void *owner, const char *name, char *rest)
{
    char *tab = strchr(rest, '\t');

    bool is_confined = !strcmp(name, "confined");

    if ((strcmp(name, "left") != 0 && !is_confined) || !tab)
        return;
    *tab = 0;
    utf8_sanitise(rest);
    utf8_sanitise(tab + 1);
    if (is_confined)
        fprintf(owner,
                "umbra: %s: has confined itself (namespaces, chroot, seccomp, Landlock): for such "
                "processes no further file is instrumented\n",
                rest);
    else
        fprintf(owner, "umbra: %s: left as it is: %s\n", rest, tab + 1);
}

void recording_show_left(const struct recording *recording, FILE *stream)
{
    char *why = recording_value(recording, "why");

    each_line(recording, "files", show_left, stream);
    if (why)
        fprintf(stream, "umbra: %s: no process was recorded: %s\n", recording->name, why);
    free(why);
}

struct wanted_reason {
    const char *path; /* null: any */
    char *reason;     /* the first that was found */
};

static void take_reason(void *owner, const char *name, char *rest)
{
    struct wanted_reason *wanted = owner;
    char *tab = strchr(rest, '\t');

    if (wanted->reason || strcmp(name, "left") != 0 || !tab)
        return;
    *tab = 0;
    if (!wanted->path || !strcmp(wanted->path, rest))
        wanted->reason = memory_print("%s: %s", rest, tab + 1);
}

char *recording_why_left(const struct recording *recording, const char *path)
{
    struct wanted_reason wanted = {.path = path};

    each_line(recording, "files", take_reason, &wanted);
    return wanted.reason;
}

uint64_t recording_size(const struct recording *recording)
{
    char *path = recording_own_path(recording, ".");
    char *const paths[] = {path, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    FTSENT *entry;
    uint64_t size = 0;

    while (tree && (entry = fts_read(tree)))
        if (entry->fts_info == FTS_F)
            size += (uint64_t)entry->fts_statp->st_blocks * DISK_BLOCK;
    if (tree)
        fts_close(tree);
    free(path);
    return size;
}

/* The pid in NAME-PID-N.bin; null if it is no trace's name. */
static const char *pid_in(char *name)
{
    size_t length = strlen(name);
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

/* Null if there are none. */
static DIR *open_traces(const struct recording *recording)
{
    int folder = below_open(recording->directory, "traces", O_RDONLY | O_DIRECTORY, 0);
    DIR *directory = folder < 0 ? NULL : fdopendir(folder);

    if (folder >= 0 && !directory)
        close(folder);
    return directory;
}

bool recording_has_times(const struct recording *recording)
{
    int folder = below_open(recording->directory, RECORDING_TIMES, O_RDONLY | O_DIRECTORY, 0);

    if (folder >= 0)
        close(folder);
    return folder >= 0;
}

static int by_pid(const void *a, const void *b)
{
    const unsigned long *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

size_t recording_count_processes(const struct recording *recording)
{
    DIR *directory = open_traces(recording);
    struct dirent *entry;
    unsigned long *pids = NULL;
    size_t traces = 0, room = 0, count = 0;

    while (directory && (entry = readdir(directory))) {
        const char *pid = pid_in(entry->d_name);
        if (!pid)
            continue;
        pids = memory_grow(pids, traces, &room, sizeof(*pids));
        pids[traces++] = strtoul(pid, NULL, 10);
    }
    if (directory)
        closedir(directory);
    if (traces)
        qsort(pids, traces, sizeof(*pids), by_pid);
    for (size_t i = 0; i < traces; i++)
        count += !i || pids[i] != pids[i - 1];
    free(pids);
    return count;
}

/* What belongs to NAME-PID-N.bin has the same name and another suffix, or more suffixes. */
void recording_keep_process(const struct recording *recording, const char *pid)
{
    DIR *directory = open_traces(recording);
    struct dirent *entry;

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
