/*
 * Memory that looks like a file: what a running program records into (Linux).
 *
 * No file system stands behind it. It has no name, cannot be cut, and nobody gets at it but those
 * it was handed to: a full disk, and whoever cuts or overwrites the files of traces, touch nothing
 * that a program writes to. Windows programs record into files.
 */
#ifndef UMBRA_SERVICE_MEMORY_FILE_H
#define UMBRA_SERVICE_MEMORY_FILE_H

#include <stdbool.h>

/*
 * Makes one that nothing is in yet, to be given its size by file_extend. name is what
 * /proc/PID/maps shows. Returns -1, errno set: ENOSYS where the system has none.
 */
int memory_file_create(const char *name);

/* Another descriptor of it that can only be read; neither it nor what is mapped by it becomes
   writable. The caller's; -1, errno set. */
int memory_file_readable(int file);

/* Its size stays as it is from here on, whoever has it. Returns false, errno set. */
bool memory_file_seal(int file);

#endif
