/* The file of a command. */
#ifndef UMBRA_SERVICE_COMMAND_FILE_H
#define UMBRA_SERVICE_COMMAND_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Finds it as execvp(3) does, but does not ask whether it may be executed. */
bool command_file_find(char *path, size_t size, const char *command);

#endif
