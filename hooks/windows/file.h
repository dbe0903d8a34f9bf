/* Files by UTF-8 paths, `/` or `\\`. Only at a time when the process may call Windows. */
#ifndef UMBRA_HOOKS_WINDOWS_FILE_H
#define UMBRA_HOOKS_WINDOWS_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* access: GENERIC_…. INVALID_HANDLE_VALUE if it cannot be opened. Not inherited. */
void *file_open(const char *path, unsigned long access);

/* What of the file fits, terminated. False: it cannot be read. */
bool file_read(const char *path, char *content, size_t size);

/* What fits of a file that is this user's and that nobody else may open (private_file.h),
   terminated. False: it cannot be read. */
bool file_read_private(const char *path, char *content, size_t size);

bool file_exists(const char *path);

#endif
