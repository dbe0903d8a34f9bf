/* A directory that only this user may open. */
#ifndef UMBRA_SERVICE_WINDOWS_PRIVATE_DIRECTORY_H
#define UMBRA_SERVICE_WINDOWS_PRIVATE_DIRECTORY_H

#include <stdbool.h>
#include <wchar.h>

/*
 * Makes it, or gives one that is there that access (private.h). Returns false after one message: it
 * is another's, or no directory, or leads elsewhere.
 */
bool private_directory_make(const wchar_t *path);

#endif
