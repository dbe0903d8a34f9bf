#include "service/linux/command_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool command_file_find(char *path, size_t size, const char *command)
{
    const char *folders = getenv("PATH");
    size_t length;

    if (strchr(command, '/'))
        return (size_t)snprintf(path, size, "%s", command) < size;
    for (; folders; folders = folders[length] ? folders + length + 1 : NULL) {
        length = strcspn(folders, ":");
        snprintf(path, size, "%.*s/%s", (int)length, length ? folders : ".", command);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}
