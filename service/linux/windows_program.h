/* Programs that Linux cannot run and Wine can. */
#ifndef UMBRA_SERVICE_LINUX_WINDOWS_PROGRAM_H
#define UMBRA_SERVICE_LINUX_WINDOWS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Finds the file of a command as execvp(3) does. Returns true, with its path, if it is a PE image.
 * It need not be executable: Wine does not ask for that.
 */
bool windows_program_find(char *path, size_t size, const char *command);

#endif
