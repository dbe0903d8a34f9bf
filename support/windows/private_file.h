/* Is a file private to its user? Uses ntdll alone, no heap, no last error: the agent asks, too. */
#ifndef UMBRA_SUPPORT_WINDOWS_PRIVATE_FILE_H
#define UMBRA_SUPPORT_WINDOWS_PRIVATE_FILE_H

#include <stdbool.h>

/*
 * Does the open file (of GENERIC_READ, a HANDLE) belong to the user of this process, to the system
 * or to its administrators, and does its list give nobody else any access?
 *
 * Under Wine, a file of any other user, root included, has one and the same unknown owner. The list
 * shows what the file's mode grants to everybody. It does not show what the mode grants to the
 * group.
 */
bool private_file(void *file);

#endif
