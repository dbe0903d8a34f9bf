/* The file of a command, found as execvp(3) does; but it is not asked whether it may be executed. */
#ifndef UMBRA_SERVICE_COMMAND_FILE_H
#define UMBRA_SERVICE_COMMAND_FILE_H

#include <stdbool.h>
#include <stddef.h>

bool command_file_find(char *path, size_t size, const char *command);

/* Returns true, with its path, if it is a PE image, which Wine runs, be it executable or not. */
bool command_file_find_windows(char *path, size_t size, const char *command);

#endif
