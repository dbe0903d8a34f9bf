#include "front/tool/find_program.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/base/say.h"
#include "support/memory.h"

static bool can_be_run(const char *path)
{
    struct stat status;

    return access(path, X_OK) == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The path of a program as execvp finds it, to be freed; null if it is nowhere. */
static char *find_program(const char *name)
{
    const char *folders = getenv("PATH");

    if (strchr(name, '/'))
        return can_be_run(name) ? memory_copy_string(name) : NULL;
    if (!folders)
        folders = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(folders, ":");
        char *path = memory_print("%.*s%s%s", (int)length, folders, length ? "/" : "./", name);
        if (can_be_run(path))
            return path;
        free(path);
        if (!folders[length])
            return NULL;
        folders += length + 1;
    }
}

/* What it seems to be instead, and what is to be typed then; "" if that is not known. To be freed.
 */
static char *find_meant(const char *name)
{
    size_t first = strcspn(name, " ");
    char *word, *program, *meant = NULL;
    struct stat status;

    if (!strchr(name, '/') && stat(name, &status) == 0)
        meant = S_ISDIR(status.st_mode) ? memory_print("; it is a folder")
                                        : memory_print("; the file here is ./%s", name);
    else if (strchr(name, '=') && !strchr(name, '/'))
        meant = memory_print("; to set a variable: umbra record -- env %s PROGRAM", name);
    if (meant || !name[first])
        return meant ? meant : memory_copy_string("");
    word = memory_print("%.*s", (int)first, name);
    program = find_program(word);
    free(word);
    if (!program)
        return memory_copy_string("");
    free(program);
    return memory_print("; without the quotation marks: umbra record -- %s", name);
}

char *program_require(const char *name)
{
    char *path = find_program(name);
    struct stat status;

    if (path)
        return path;
    if (strchr(name, '/') && stat(name, &status) == 0)
        say_and_exit(STATUS_NOT_FOUND - 1, "%s: cannot be executed: %s", name,
                     S_ISDIR(status.st_mode) ? "it is a folder" : strerror(EACCES));
    say_and_exit(STATUS_NOT_FOUND, "%s: there is no such program%s", name, find_meant(name));
}
