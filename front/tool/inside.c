#include "front/tool/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/base/making_line.h"
#include "front/base/say.h"
#include "front/base/tools.h"
#include "front/calls/call_filter.h"
#include "front/calls/listener.h"
#include "front/files/bind_mount.h"
#include "front/recording/new_recording.h"
#include "front/tool/unrecorded.h"
#include "front/tool/without_mounts.h"
#include "support/memory.h"

#define STATUS_NOT_RUN 126

/*
 *      umbra inside SOCKET BEGUN UMASK PROGRESS NAME FOLDER DIRECTORY PATH COUNT OPTION…
 *             COUNT PATTERN… ARGUMENT…
 *
 * SOCKET, BEGUN and DIRECTORY are descriptors. PROGRESS is 1 if it is to be shown.
 */
enum {
    AT_SOCKET = 2,
    AT_BEGUN,
    AT_UMASK,
    AT_PROGRESS,
    AT_NAME,
    AT_FOLDER,
    AT_DIRECTORY,
    AT_PATH,
    AT_LISTS, /* of instrument's options, then of --leave's patterns */
};

static void add_list(struct words *words, const struct words *list)
{
    words_print(words, "%zu", list->count);
    words_add_all(words, list->list);
}

void inside_command(struct words *words, const struct inside *inside)
{
    words_add(words, tools_find()->own);
    words_add(words, "inside");
    words_print(words, "%d", inside->socket);
    words_print(words, "%d", inside->begun);
    words_print(words, "%o", (unsigned)inside->mask);
    words_add(words, inside->shows_progress ? "1" : "0");
    words_add(words, inside->recording->name);
    words_add(words, inside->recording->folder);
    words_print(words, "%d", inside->recording->directory);
    words_add(words, inside->path);
    add_list(words, &inside->options);
    add_list(words, &inside->leave);
}

/* Null, or why not. */
static const char *begin_in_place(int socket)
{
    const char *why = mounts_enter();
    int listener;
    bool is_told;

    if (why)
        return why;
    listener = call_filter_install();
    if (listener < 0)
        return errno == EBUSY ? "another supervisor watches the system calls here"
                              : "the kernel has no system call filters that ask (seccomp)";
    is_told = listener_send(socket, listener);
    close(listener);
    if (!is_told)
        say_and_exit(STATUS_NOT_RUN, "the supervisor has ended; nothing was run");
    return NULL;
}

/* From here on nothing else is tried: the program is not run a second time. */
static void begin(const struct recording *recording, int begun)
{
    new_recording_begin(recording);
    if (write(begun, "", 1) < 0)
        errno = 0; /* umbra record has ended */
    close(begun);
}

/* Takes as many words as arguments[at] says. Returns where it goes on: at a word. */
static int take_list(struct words *list, int at, int count, char **arguments)
{
    int list_count = at < count ? atoi(arguments[at]) : -1;

    if (list_count < 0 || list_count >= count - at - 1)
        say_and_exit(STATUS_USAGE, "inside: is for umbra record alone");
    for (int i = 1; i <= list_count; i++)
        words_add(list, arguments[at + i]);
    return at + 1 + list_count;
}

int inside_main(int count, char **arguments)
{
    struct recording recording;
    struct words options = {0}, leave = {0};
    const char *why = NULL, *path;
    int socket, at, error;
    bool shows_progress;
    mode_t mask;

    at = take_list(&options, AT_LISTS, count, arguments);
    at = take_list(&leave, at, count, arguments);
    socket = atoi(arguments[AT_SOCKET]);
    mask = (mode_t)strtoul(arguments[AT_UMASK], NULL, 8);
    shows_progress = *arguments[AT_PROGRESS] == '1';
    recording = (struct recording){.name = arguments[AT_NAME],
                                   .folder = arguments[AT_FOLDER],
                                   .directory = atoi(arguments[AT_DIRECTORY])};
    path = arguments[AT_PATH];
    begin(&recording, atoi(arguments[AT_BEGUN]));
    arguments += at;
    if (socket >= 0) {
        why = begin_in_place(socket);
        close(socket);
    }
    if (socket < 0 || why) {
        if (shows_progress)
            making_line_begin(making_line_open(), -1);
        without_mounts_execute(&recording, &options, &leave, path, why, arguments, mask);
    }
    fcntl(recording.directory, F_SETFD, FD_CLOEXEC);
    umask(mask);
    execv(path, arguments);
    error = errno;
    if (error == ENOEXEC && !unrecorded_is_foreign(path)) {
        execvp(path, arguments); /* a text without #! goes to the shell, as from a shell */
        error = errno;
    }
    unrecorded_tell(&recording, arguments[0], path, error);
    return error == ENOENT ? 127 : STATUS_NOT_RUN;
}
