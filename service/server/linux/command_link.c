#include "service/server/command_link.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/base/message.h"
#include "service/server/linux/leftovers.h"
#include "support/failure.h"
#include "trace/protocol.h"

#define MOST_TRIES 1000 /* each means that another service ended meanwhile */

static void cut_last_part(char *path)
{
    *strrchr(path, '/') = 0;
}

/* Agents look at it in the same way (hooks/linux/trust.h). False, with a text without the path;
   errno is ENOENT if it was removed meanwhile. */
static bool make_folder(const char *path, struct failure *failure)
{
    struct stat stat;

    if ((mkdir(path, 0700) < 0 && errno != EEXIST) || lstat(path, &stat) < 0)
        return fail_because(failure, "%s", strerror(errno));
    if (S_ISDIR(stat.st_mode) && stat.st_uid == geteuid() && !(stat.st_mode & 077))
        return true;
    errno = EPERM;
    return fail_because(failure, "expected a directory of this user with mode 0700, found another");
}

/* The pid may be another program's by now: then nobody listens where the link leads. */
static bool is_left(int folder, const char *name)
{
    char socket_path[PROTOCOL_PATH_SIZE];
    pid_t pid = (pid_t)atoi(name);
    ssize_t length;

    if (pid <= 0)
        return false;
    if (kill(pid, 0) < 0 && errno == ESRCH)
        return true;
    length = readlinkat(folder, name, socket_path, sizeof(socket_path) - 1);
    if (length < 0)
        return false;
    socket_path[length] = 0;
    return leftovers_is_deserted(socket_path);
}

/* Removes links of services that were killed. */
static void clean(const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries))) {
        if (is_left(dirfd(entries), entry->d_name))
            unlinkat(dirfd(entries), entry->d_name, 0);
    }
    if (entries)
        closedir(entries);
}

/* Makes the link, in place of one that is there. False, with errno and a text without the path. */
static bool make_link(const char *path, const char *socket_path, struct failure *failure)
{
    char links[PROTOCOL_PATH_SIZE], folder[PROTOCOL_PATH_SIZE];

    strcpy(links, path);
    cut_last_part(links);
    strcpy(folder, links);
    cut_last_part(folder);
    if (!make_folder(folder, failure) || !make_folder(links, failure))
        return false;
    clean(links);
    unlink(path);
    if (symlink(socket_path, path) == 0)
        return true;
    return fail_because(failure, "%s", strerror(errno));
}

void command_link_clean(void)
{
    char path[PROTOCOL_PATH_SIZE];
    struct failure failure;
    struct stat stat;

    protocol_command_link(path, (unsigned)getpid(), (unsigned)geteuid());
    cut_last_part(path);
    if (lstat(path, &stat) < 0 || !make_folder(path, &failure))
        return;
    clean(path);
    rmdir(path);
}

void command_link_make(const char *socket_path)
{
    char path[PROTOCOL_PATH_SIZE];
    struct failure failure;
    int tries = 0;
    bool is_made;

    protocol_command_link(path, (unsigned)getpid(), (unsigned)geteuid());
    do
        is_made = make_link(path, socket_path, &failure);
    while (!is_made && errno == ENOENT &&
           ++tries < MOST_TRIES); /* another's end removed the folder */
    if (!is_made)
        message("%s: %s: what the command starts with an environment that has no UMBRA_INSTANCE_ID "
                "is not recorded",
                path, failure.text);
}

/* The folder goes with the last one, so that programs need not look for links. */
void command_link_remove(void)
{
    char path[PROTOCOL_PATH_SIZE];

    protocol_command_link(path, (unsigned)getpid(), (unsigned)geteuid());
    if (unlink(path) < 0)
        return;
    cut_last_part(path);
    rmdir(path);
}
