#include "grinder/profile/own_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *own_name_of_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *other = strrchr(path, '\\');

    if (other && (!slash || other > slash))
        slash = other;
    return slash ? slash + 1 : path;
}

/* Arguments are joined by spaces, and a path may have some: then it is known by the executable's
   name at its end. */
static bool begins_with_path_to(const char *command, const char *name)
{
    size_t length = strlen(name);
    const char *at = command;

    if (*command != '/' && *command != '.')
        return !strncmp(command, name, length) && (!command[length] || command[length] == ' ');
    while ((at = strchr(at, '/'))) {
        at++;
        if (!strncmp(at, name, length) && (!at[length] || at[length] == ' '))
            return true;
    }
    return false;
}

void own_name(char name[OWN_NAME_SIZE], const struct trace_header *header)
{
    const char *of_file = own_name_of_path(header->exe), *command = header->command;
    char *end;

    snprintf(name, OWN_NAME_SIZE, "%.255s", *of_file ? of_file : "process");
    if (header->system != TRACE_SYSTEM_LINUX || (*of_file && begins_with_path_to(command, of_file)))
        return;
    if (*command == '-') /* a login shell */
        command++;
    for (const char *at = command; *at && *at != ' '; at++)
        if (*at == '/')
            command = at + 1;
    if (!*command || *command == ' ')
        return;
    snprintf(name, OWN_NAME_SIZE, "%.255s", command);
    end = strchr(name, ' ');
    if (end)
        *end = 0;
}
