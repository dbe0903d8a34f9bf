#include "service/base/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_NONBLOCK: to open a FIFO nobody reads would wait. */
int log_file_open(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    struct stat stat;

    if (fd < 0 || (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode)))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

char *log_file_absolute(const char *path)
{
    char directory[PATH_MAX];
    char *absolute;

    if (*path == '/')
        return strdup(path);
    if (!getcwd(directory, sizeof(directory)))
        return NULL;
    return asprintf(&absolute, "%s/%s", directory, path) < 0 ? NULL : absolute;
}
