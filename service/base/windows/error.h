/* Errors of Windows as errno, in which the service thinks. */
#ifndef UMBRA_SERVICE_WINDOWS_ERROR_H
#define UMBRA_SERVICE_WINDOWS_ERROR_H

#include <stdbool.h>

/* Sets errno from GetLastError or WSAGetLastError, which are one. Returns false. */
bool error_to_errno(void);

#endif
