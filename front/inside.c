#include "front/inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/watched_calls.h"
#include "front/bind_mount.h"
#include "front/listener.h"
#include "front/say.h"
#include "front/shadow.h"
#include "front/tools.h"
#include "support/memory.h"

#define STATUS_NOT_RUN 126

/*
 *      umbra inside SOCKET NAME FOLDER PATH COUNT OPTION… ARGUMENT…
 */
enum {
    AT_SOCKET = 2,
    AT_NAME,
    AT_FOLDER,
    AT_PATH,
    AT_COUNT,
    AT_OPTIONS,
};

void inside_command(struct words *words, const struct inside *inside)
{
    words_add(words, tools_find()->own);
    words_add(words, "inside");
    words_print(words, "%d", inside->socket);
    words_add(words, inside->recording->name);
    words_add(words, inside->recording->folder);
    words_add(words, inside->path);
    words_print(words, "%zu", inside->options.count);
    words_add_all(words, inside->options.list);
}

/* Null, or why not. */
static const char *begin_in_place(int socket)
{
    const char *why = mounts_enter();
    int listener;
    bool is_told;

    if (why)
        return why;
    listener = filter_install();
    if (listener < 0)
        return errno == EBUSY ? "another supervisor watches the system calls here"
                              : "the kernel has no system call filters that ask (seccomp)";
    is_told = listener_send(socket, listener);
    close(listener);
    if (!is_told)
        say_and_exit(STATUS_NOT_RUN, "the supervisor has ended; nothing was run");
    return NULL;
}

int inside_main(int count, char **arguments)
{
    struct recording recording;
    struct words options = {0};
    const char *why = NULL, *path;
    int socket, option_count;

    if (count <= AT_OPTIONS)
        say_and_exit(STATUS_USAGE, "inside: is for umbra record alone");
    socket = atoi(arguments[AT_SOCKET]);
    recording = (struct recording){.name = arguments[AT_NAME], .folder = arguments[AT_FOLDER]};
    option_count = atoi(arguments[AT_COUNT]);
    if (option_count < 0 || AT_OPTIONS + option_count >= count)
        say_and_exit(STATUS_USAGE, "inside: is for umbra record alone");
    for (int i = 0; i < option_count; i++)
        words_add(&options, arguments[AT_OPTIONS + i]);
    path = arguments[AT_PATH];
    arguments += AT_OPTIONS + option_count;
    recording_begin(&recording);
    if (socket >= 0) {
        why = begin_in_place(socket);
        close(socket);
    }
    if (socket < 0 || why)
        shadow_execute(&recording, &options, path, why, arguments);
    else
        execvp(path, arguments); /* a text without #! goes to the shell, as from a shell */
    say("%s: cannot be run: %s", arguments[0], strerror(errno));
    return errno == ENOENT ? 127 : STATUS_NOT_RUN;
}
