/* Whose a file is. Uses ntdll alone, no heap and no last error: the agent asks, too. */
#ifndef UMBRA_SUPPORT_WINDOWS_PRIVATE_FILE_H
#define UMBRA_SUPPORT_WINDOWS_PRIVATE_FILE_H

#include <stdbool.h>

/*
 * Does the open file (of GENERIC_READ, a HANDLE) belong to the user of this process, to the system
 * or to its administrators, and does its list give nobody else any access?
 *
 * Under Wine the owner is the file's, another's if it is not the user's, root's too. Of the mode,
 * what is for all others is in the list; what is for the group is not, so that cannot be seen.
 */
bool private_file(void *file);

#endif
