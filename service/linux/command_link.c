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
#include "trace/protocol.h"

static void cut_last_part(char *path)
{
    *strrchr(path, '/') = 0;
}

/* Agents look at it in the same way (hooks/linux/trust.h). Returns false, *why set. */
static bool make_folder(const char *path, const char **why)
{
    struct stat stat;

    if ((mkdir(path, 0700) < 0 && errno != EEXIST) || lstat(path, &stat) < 0)
        *why = strerror(errno);
    else if (!S_ISDIR(stat.st_mode) || stat.st_uid != geteuid() || stat.st_mode & 077)
        *why = "expected a directory of this user with mode 0700, found another";
    else
        return true;
    return false;
}

/* A link whose service is gone leads nowhere, and the pid may be another program's by now. */
static void clean(const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries))) {
        pid_t pid = (pid_t)atoi(entry->d_name);

        if (pid > 0 && kill(pid, 0) < 0 && errno == ESRCH)
            unlinkat(dirfd(entries), entry->d_name, 0);
    }
    if (entries)
        closedir(entries);
}

void command_link_make(const char *socket_path)
{
    char path[PROTOCOL_PATH_SIZE], links[PROTOCOL_PATH_SIZE], folder[PROTOCOL_PATH_SIZE];
    const char *why = NULL;

    protocol_command_link(path, (unsigned)getpid(), (unsigned)geteuid());
    strcpy(links, path);
    cut_last_part(links);
    strcpy(folder, links);
    cut_last_part(folder);
    if (make_folder(folder, &why) && make_folder(links, &why)) {
        clean(links);
        unlink(path);
        if (symlink(socket_path, path) == 0)
            return;
        why = strerror(errno);
    }
    message("%s: %s: what the command starts with an environment that has no UMBRA_INSTANCE_ID is "
            "not recorded",
            path, why);
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
